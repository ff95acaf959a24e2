# require_version PROGRAM LEAST WHY
require_version() {
	found=$("$1" --version 2>&1 | sed -n 's/^[^0-9]*\([0-9][0-9.]*\).*/\1/p' | sed 1q)
	awk -v "found=$found" -v "least=$2" 'BEGIN {
		split(found, have, "."); count = split(least, want, ".")
		for (i = 1; i <= count; i++) if (have[i] + 0 != want[i] + 0) exit !(have[i] + 0 > want[i] + 0)
	}' || refuse "$1 $2 or later is needed for $3, and here is ${found:-another program of that name}"
}
