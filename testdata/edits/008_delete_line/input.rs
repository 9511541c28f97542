use a;
use b;
use c;
