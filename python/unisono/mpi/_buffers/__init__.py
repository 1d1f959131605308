"""What a message means: types of elements, the memory of a buffer, and who gets which part of it."""
