"""Arrays of records: structured dtypes, whose fields are views over the same memory."""
