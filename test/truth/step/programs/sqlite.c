/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Answers queries from a database in memory: inserts, indexes, joins, aggregates, recursion, text, triggers. */
#include <stddef.h>
#include <string.h>
#include <sqlite3.h>
#include "step.h"

enum { PHASES = 160 };

static const char *const setup[] = {
    "create table person(id integer primary key, name text not null, age int, team int)",
    "create table team(id integer primary key, name text unique)",
    "create table log(at integer primary key, what text)",
    "create index by_age on person(age)",
    "create trigger t after insert on person begin insert into log(what) values('new ' || new.name); end",
    "create view adult as select p.name as person, t.name as team from person p join team t on p.team = t.id"
    " where age > 17",
    "insert into team values(1, 'red'), (2, 'green'), (3, 'blue')",
    "insert into person(name, age, team) with recursive n(i) as (select 1 union all select i + 1 from n where i < "
    "60)"
    " select 'person ' || i, i * 37 % 80, i % 3 + 1 from n",
};

static const char *const queries[] = {
    "select adult.team, count(*), avg(age) from adult join person on person.name = adult.person group by 1 order "
    "by 2",
    "insert into person(name, age, team) values(printf('extra %d', abs(random() % 100)), 33, 2)",
    "with recursive f(a, b) as (select 0, 1 union all select b, a + b from f where b < 10000) select max(a) from f",
    "select a.name, b.name from person a join person b on a.age = b.age and a.id < b.id order by a.age desc limit "
    "5",
    "update person set age = age + 1 where id % 7 = 3",
    "select upper(substr(name, 1, 3)), group_concat(id), replace(name, 'e', 'ee') from person where name like '%1%'"
    " group by team having count(*) > 1",
    "begin; delete from person where age > 70; insert into log(what) values('gone'); rollback",
    "select name, rank() over (partition by team order by age), sum(age) over (order by id rows 3 preceding)"
    " from person where id < 30",
    "select * from no_such_table",
    "select case when age between 10 and 20 then 'young' when age in (select age from person where team = 1) then "
    "'red'"
    " else round(age * 1.5, 2) end, exists(select 1 from log where what like 'new%') from person order by 1 limit "
    "9",
    "explain query plan select * from person where age = 5 or id = 3",
};

/* ---- An operating system without files ---- */

static int no_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    (void)vfs;
    (void)name;
    (void)file;
    (void)flags;
    (void)out;
    return SQLITE_CANTOPEN;
}

static int no_file(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    (void)vfs;
    (void)name;
    (void)flags;
    *out = 0;
    return SQLITE_OK;
}

static int same_path(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
    (void)vfs;
    if (strlen(name) >= (size_t)size)
        return SQLITE_CANTOPEN;
    strcpy(out, name);
    return SQLITE_OK;
}

static int randomness(sqlite3_vfs *vfs, int size, char *out)
{
    (void)vfs;
    memset(out, 7, (size_t)size);
    return size;
}

static int now(sqlite3_vfs *vfs, double *out)
{
    (void)vfs;
    *out = 2460000.5;
    return SQLITE_OK;
}

int sqlite3_os_init(void)
{
    static sqlite3_vfs vfs;

    vfs.iVersion = 1;
    vfs.szOsFile = sizeof(sqlite3_file);
    vfs.mxPathname = 64;
    vfs.zName = "none";
    vfs.xOpen = no_open;
    vfs.xAccess = no_file;
    vfs.xFullPathname = same_path;
    vfs.xRandomness = randomness;
    vfs.xCurrentTime = now;
    return sqlite3_vfs_register(&vfs, 1);
}

int sqlite3_os_end(void)
{
    return SQLITE_OK;
}

/* ---- Queries ---- */

static int count_row(void *rows, int columns, char **values, char **names)
{
    (void)columns;
    (void)values;
    (void)names;
    ++*(int *)rows;
    return 0;
}

/* Query 8 is meant to fail. */
static int phase(sqlite3 *db, int i)
{
    int n = (int)(sizeof queries / sizeof *queries), rows = 0;
    int code = sqlite3_exec(db, queries[i % n], count_row, &rows, NULL);

    if (code == (i % n == 8 ? SQLITE_ERROR : SQLITE_OK))
        return 0;
    step_tell(queries[i % n]);
    step_tell(sqlite3_errmsg(db));
    return 1;
}

static int open_database(sqlite3 **db)
{
    unsigned i;

    if (sqlite3_open(":memory:", db) != SQLITE_OK)
        return 1;
    for (i = 0; i < sizeof setup / sizeof *setup; i++)
        if (sqlite3_exec(*db, setup[i], NULL, NULL, NULL) != SQLITE_OK) {
            step_tell(sqlite3_errmsg(*db));
            return 1;
        }
    return 0;
}

int step_main(void)
{
    sqlite3 *db = NULL;
    int failures, i;

    step_mark(0, PHASES + 1);
    failures = open_database(&db);
    for (i = 1; failures == 0 && i <= PHASES; i++) {
        step_mark(i, PHASES + 1);
        failures += phase(db, i);
    }
    return failures != 0 || sqlite3_close(db) != SQLITE_OK;
}
