// LD_PRELOAD loads this library. Nothing is called by name.
