"""What happens next: pure functions, values in, values out."""
