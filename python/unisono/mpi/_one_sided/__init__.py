"""Memory that other ranks read and write: windows, arrays that are exposed, and bytes."""
