// An extension in C: alpha * x + y of arrays on any device, by unisono/python.h.
#define PY_SSIZE_T_CLEAN
#include "unisono/python.h"

static PyObject* axpy(PyObject* module, PyObject* args) {
    double alpha;
    PyObject *x_object, *y_object;
    (void)module;
    if (!PyArg_ParseTuple(args, "dOO:axpy", &alpha, &x_object, &y_object)) return NULL;
    un_array *x = un_from_object(x_object), *y = NULL, *scaled = NULL, *sum = NULL;
    if (x && (y = un_from_object(y_object))) {
        const un_operand factors[] = {un_ref(x), un_real(alpha)};
        scaled = un_apply(un_operation("multiply"), factors, 2, NULL);
        if (scaled) {
            const un_operand terms[] = {un_ref(scaled), un_ref(y)};
            sum = un_apply(un_operation("add"), terms, 2, NULL);
        }
        if (!sum) un_raise();
    }
    un_release(x);
    un_release(y);
    un_release(scaled);
    return sum ? un_to_object(sum) : NULL;
}

static PyMethodDef methods[] = {
    {"axpy", axpy, METH_VARARGS, "axpy(alpha, x, y): alpha * x + y, one kernel on x's device."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "heat_c", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_heat_c(void) {
    if (un_import() < 0) return NULL;
    return PyModule_Create(&definition);
}
