/* A copy of the format of drivedb.h */
const drive_settings builtin_knowndrives[] = {
  { "VERSION: 7.3", "", "", "", "" },
  { "Maker Green (SMR)", // pieces
    "MKR (10|20)EZ.*|"
    "MKR30EZ[^/]*", "", "", "-v 9,minutes" },
  { "Maker M4", "M4-CT(064|128)M4SSD[123]", "000[1-9]",
    "This drive may hang.\n" "See \"the page\"", "-v 170,raw48" },
  { "USB: stick; bridge", "0x1234:0x.*", "", "", "-d sat" },
};
