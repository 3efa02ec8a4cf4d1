// For LD_PRELOAD. Nothing is called by name.
