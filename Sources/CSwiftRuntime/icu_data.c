#include <stdint.h>

// Foundation brings ICU with 34 MB of data: names of languages, currencies and time zones, sort orders, converters. Nothing here reaches
// them. Foundation is in the daemon because SQLite's and YAML's packages need it, and of ICU they use regular expressions, whose tables
// are code. URLs are ASCII (`Issuer.init`), so no host name needs its Punycode from there.
//
// So this stands in for the data, in a release, whose executable carries Foundation with it: a table of contents without entries, as
// ICU's own `stubdata`. The linker takes this symbol before it looks into Foundation's library. Its name has ICU's version in it: with
// another version nothing refers to this, and the program is as large as without it.
#ifdef AUTHREFRESH_NO_ICU_DATA
struct data_info {
    uint16_t size, reserved;
    uint8_t is_big_endian, charset_family, size_of_character, reserved_byte;
    uint8_t format[4], format_version[4], version[4];
};

struct {
    uint16_t header_size;
    uint8_t magic[2];
    struct data_info info;
    uint8_t padding[8];
    uint32_t count, reserved;
} icudt76_dat __attribute__((aligned(16))) = {
    .header_size = 32,
    .magic = {0xda, 0x27},
    .info =
        {
            .size = sizeof(struct data_info),
            .size_of_character = 2,
            .format = {'T', 'o', 'C', 'P'},
            .format_version = {1},
        },
};
#endif
