"""What people ask of stored threads, on a store and without the graph: what is open, what happened, what stands."""
