use a;
use c;
