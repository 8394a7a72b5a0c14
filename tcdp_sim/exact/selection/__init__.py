"""Private selection, exactly: whom it finds, what it gives out, what it gives away."""
