"""What commands do once their arguments are read; each is imported only when one of its commands runs."""
