// Which points lie inside a polygon: a work-item a point.
#pragma OPENCL FP_CONTRACT OFF

__kernel void inside_polygon(__global const float2 *vertices, const int count, __global uchar *mask,
                             const int rows, const int columns)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= rows || y >= columns) return;
    int counter = 0;
    for (int k = 0; k < count; k++) {
        float2 p = vertices[k], q = vertices[(k + 1) % count];
        if (p.x == x && p.y == y) {
            mask[x * columns + y] = 1;
            return;
        }
        if (y > min(p.y, q.y) && y <= max(p.y, q.y) && x <= max(p.x, q.x) && p.y != q.y) {
            float crossing = (y - p.y) * (q.x - p.x) / (q.y - p.y) + p.x;
            if (p.x == q.x || x <= crossing) counter++;
        }
    }
    mask[x * columns + y] = counter % 2;
}
