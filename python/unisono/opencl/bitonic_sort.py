"""`pyopencl.bitonic_sort`: sorts along an axis, by the engine's sort for the device."""

from ._arrays import on_queue
from ._objects.queues import enqueue_marker


class BitonicSort:
    """Sorts an array in place, and permutes another one in the same way.

    Parameters
    ----------
    context : Context
    """

    def __init__(self, context):
        self.context = context

    def __call__(self, arr, idx=None, queue=None, wait_for=None, axis=0):
        """Sort.

        Parameters
        ----------
        arr : Array
        idx : Array, optional
            Of the same shape.
        queue : CommandQueue, optional
        wait_for : list of Event, optional
        axis : int

        Returns
        -------
        (Array, Event)
            The array that was given.
        """
        import unisono

        queue = queue or arr.queue
        if idx is not None and idx.shape != arr.shape:
            raise ValueError(
                f"BitonicSort: arr and idx differ in shape; got {arr.shape} and {idx.shape}"
            )
        for event in wait_for or ():
            event.wait()
        if arr.size:

            def sort():
                x = arr._value()
                if idx is None:
                    x[...] = unisono.sort(x, axis=axis)
                    return
                order = unisono.argsort(x, axis=axis, kind="stable")
                y = idx._value()
                x[...] = unisono.take_along_axis(x, order, axis)
                y[...] = unisono.take_along_axis(y, order, axis)

            on_queue(queue, sort)
        return arr, enqueue_marker(queue)
