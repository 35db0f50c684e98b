/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Queries on a database in memory, some of them from within others, by functions that run SQL. Stacks are taken in
 * whatever sqlite calls of us: the allocator, functions, aggregates, collations, the authorizer, the progress
 * handler.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sqlite3.h>
#include "bench.h"

enum { LEVELS = 5, DEEP_STEPS = 50 };

static const char *const setup[] = {
    "create table person(id integer primary key, name text not null collate slow, age int, team int)",
    "create table team(id integer primary key, name text unique, boss int references person(id))",
    "create table log(at integer primary key, what text, check(length(what) > 2))",
    "create index by_age on person(age, name)",
    "create index by_half on person(age / 2) where age > 10",
    "create trigger t after insert on person when new.age > 20"
    " begin insert into log(what) values('new ' || new.name); update team set boss = new.id where id = new.team; "
    "end",
    "create trigger u after update of age on person begin insert into log(what) select 'age ' || old.age; end",
    "create view adult as select p.name as person, t.name as team from person p join team t on p.team = t.id"
    " where age > 17",
    "insert into team(id, name) values(1, 'red'), (2, 'green'), (3, 'blue')",
    "insert into person(name, age, team) with recursive n(i) as (select 1 union all select i + 1 from n where i < "
    "40)"
    " select 'person ' || (i * 7 % 41), i * 37 % 80, i % 3 + 1 from n",
};

/* $ stands for the level: the queries of one level run those of the next. */
static const char *const queries[] = {
    "select adult.team, count(*), avg(age), nest($) from adult join person on person.name = adult.person group by 1"
    " order by 2",
    "insert into person(name, age, team) values(printf('extra %d', nest($)), 33, 2)",
    "with recursive f(a, b) as (select nest($), 1 union all select b, a + b from f where b < 90) select max(a) "
    "from f",
    "select a.name, b.name from person a join person b on a.age = b.age and a.id < b.id where nest($) = 0"
    " order by a.name desc limit 5",
    "update person set age = age + 1 + nest($) where id % 17 = 3",
    "select upper(substr(name, 1, 3)), group_concat(id), replace(name, 'e', 'ee'), deep(age) from person where name"
    " like '%1%' and id < 20 + nest($) group by team having count(*) > 1",
    "savepoint s; delete from person where age > 70 + nest($); insert into log(what) values('gone'); rollback to s;"
    " release s",
    "select name, rank() over (partition by team order by age), sum(age) over (order by id rows 3 preceding), "
    "nest($)"
    " from person where id < 4",
    "select case when age between 10 and 20 then 'young' when age in (select age from person where team = 1) then "
    "'red'"
    " else round(age * 1.5, 2) + nest($) end, exists(select 1 from log where what like 'new%') from person where "
    "id < 5"
    " order by 1",
    "select json_group_array(json_object('name', name, 'age', age)), nest($) from person where team = 2 and id < 9",
    "select json_extract('{\"a\": [1, {\"b\": 22}]}', '$.a[1].b'), nest($)",
    "create table if not exists t$(a primary key, b, c default (nest($)), unique(b, c)) without rowid;"
    " insert or replace into t$ select id, name, nest($) from person where id < 4; select * from t$ order by c, b;"
    " drop table t$",
    "select count(distinct team), total(age), min(name), max(nest($)) from person union select 1, 2, 3, 4 union all"
    " select * from (select 5, 6, 7, 8 except select 5, 6, 7, 9 intersect select 5, 6, 7, 9) order by 1",
    "select * from (select id, name, (select count(*) from person q where q.age < p.age and nest($) = 0) as "
    "younger from"
    " person p where id < 5) where younger > 1 order by younger desc",
    "explain query plan select * from person where age = 5 or id = 3 or name = nest($)",
    "with x(i) as (values(1), (2), (3)), y as materialized (select i * 2 as j from x) select * from x, y left join "
    "team"
    " on team.id = x.i + nest($) where x.i + y.j > 3 order by y.j, x.i",
    "select deep(id) from person where id < 3 + nest($)",
    "insert into team(id, name) values(9, 'red') on conflict do update set boss = nest($)",
    "select date('2026-01-01', '+' || id || ' days'), strftime('%Y-%W', 2460000.5 + nest($)), hex(zeroblob(3)),"
    " quote(name), instr(name, 'o'), unicode(name), trim(name, 'p') from person where id < 4",
    "pragma table_info(person); pragma index_list(person); analyze person; select nest($)",
    "select name from person where id in (select boss from team where id = 1 + nest($)) or name glob 'p*1' and age "
    "not"
    " between 3 and 9 and cast(age as text) > '3' or team is not null and ((age + 1) * 2 - 3) % 5 = 4",
    "alter table log rename to log$; alter table log$ rename to log; select nest($)",
    "select count(*) filter (where age > 20), first_value(name) over w, ntile(3) over w, lag(age, nest($)) over w "
    "from"
    " person where id < 4 group by id window w as (order by age desc groups between unbounded preceding and 1"
    " following)",
    "reindex by_age; select nest($)",
};
enum { QUERIES = sizeof queries / sizeof *queries };

static sqlite3 *db;
static unsigned turn;
static bool failed;
static sqlite3_mem_methods memory; /* sqlite's own */

/* ---- What sqlite calls of us ---- */

static void *take(int size)
{
    void *p = memory.xMalloc(size);
    sample();
    return p;
}

static void *resize(void *old, int size)
{
    void *p = memory.xRealloc(old, size);
    sample();
    return p;
}

static void give(void *p)
{
    memory.xFree(p);
    sample();
}

static int progress(void *unused)
{
    (void)unused;
    sample();
    return 0;
}

static int authorize(void *unused, int code, const char *a, const char *b, const char *c, const char *d)
{
    (void)unused;
    (void)code;
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    sample();
    return SQLITE_OK;
}

static int compare(void *unused, int a_size, const void *a, int b_size, const void *b)
{
    int common = memcmp(a, b, (size_t)(a_size < b_size ? a_size : b_size));
    (void)unused;
    sample();
    return common != 0 ? common : a_size - b_size;
}

static int count_row(void *rows, int columns, char **values, char **names)
{
    (void)columns;
    (void)values;
    (void)names;
    ++*(int *)rows;
    sample();
    return 0;
}

/* ---- Queries ---- */

static void run(const char *sql)
{
    int rows = 0;
    if (sqlite3_exec(db, sql, count_row, &rows, NULL) != SQLITE_OK && !failed) {
        failed = true;
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
    }
}

static void query(unsigned which, unsigned level)
{
    char sql[1024], *out = sql;
    for (const char *in = queries[which]; *in != '\0'; in++)
        if (*in == '$' && in[1] != '.')
            *out++ = (char)('0' + level);
        else
            *out++ = *in;
    *out = '\0';
    run(sql);
}

/* nest(level): 0, and the first time that a statement asks, some query of the next level. Only queries that write
 * nothing run in others: not all of sqlite's statements let a table change below them. */
static void nest(sqlite3_context *context, int count, sqlite3_value **values)
{
    static const unsigned char readers[] = {0, 2, 3, 5, 7, 8, 9, 10, 12, 13, 14, 15, 16, 18, 20, 22};
    int level = sqlite3_value_int(values[0]);
    (void)count;
    sample();
    if (level < LEVELS && sqlite3_get_auxdata(context, 0) == NULL) {
        static char mark;
        sqlite3_set_auxdata(context, 0, &mark, NULL);
        turn = turn * 5 + 3;
        query(readers[turn / 7 % sizeof readers], (unsigned)level + 1);
    }
    sqlite3_result_int(context, 0);
}

static uint64_t down(unsigned steps, uint64_t x)
{
    if (steps % 8 == 0)
        sample();
    return steps == 0 ? x : 3 * down(steps - 1, x + steps) + 1;
}

/* deep(x): recursion of our own, x % DEEP_STEPS deep */
static void deep(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    sqlite3_result_int64(context, (int64_t)(down((unsigned)sqlite3_value_int(values[0]) % 16, 1) >> 1));
}

static bool open_database(void)
{
    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        return false;
    sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 1, db);
    sqlite3_db_config(db, SQLITE_DBCONFIG_LOOKASIDE, NULL, 0, 0);
    sqlite3_create_function(db, "nest", 1, SQLITE_UTF8, NULL, nest, NULL, NULL);
    sqlite3_create_function(db, "deep", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, deep, NULL, NULL);
    sqlite3_create_collation(db, "slow", SQLITE_UTF8, NULL, compare);
    sqlite3_set_authorizer(db, authorize, NULL);
    sqlite3_progress_handler(db, DEEP_STEPS, progress, NULL);
    for (unsigned i = 0; i < sizeof setup / sizeof *setup; i++)
        run(setup[i]);
    return !failed;
}

bool work_begin(void)
{
    sqlite3_mem_methods ours;
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory) != SQLITE_OK)
        return false;
    ours = memory;
    ours.xMalloc = take;
    ours.xRealloc = resize;
    ours.xFree = give;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &ours) == SQLITE_OK;
}

bool work_run(void)
{
    turn = 1;
    if (!open_database())
        return false;
    for (unsigned i = 0; i < QUERIES && !failed; i++)
        query(i, 1);
    return sqlite3_close(db) == SQLITE_OK && !failed;
}
