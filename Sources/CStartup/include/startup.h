// This target declares nothing. The linker uses its definitions instead of those of the Swift runtime and the C library.
