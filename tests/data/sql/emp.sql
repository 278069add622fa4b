CREATE TABLE emp (id INTEGER PRIMARY KEY, name TEXT, dept TEXT, pay REAL);
INSERT INTO emp VALUES (1, 'Ann', 'a', 10), (2, 'Bo', 'a', 20), (3, 'Cy', 'b', 20);
INSERT INTO emp VALUES (4, 'Di', 'b', 5), (5, 'Ed', NULL, NULL);
CREATE TABLE visit (emp INTEGER, day TEXT, minutes INTEGER);
INSERT INTO visit VALUES (1, 'mon', 5), (1, 'tue', 5), (2, 'mon', 7), (3, 'wed', 1);
