/* a
 b */
x
