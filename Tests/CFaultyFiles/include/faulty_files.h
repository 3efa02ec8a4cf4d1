// For LD_PRELOAD: nothing is called by name.
