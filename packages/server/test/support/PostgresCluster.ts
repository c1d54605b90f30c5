import { Effect } from "effect"
import { execFile, execFileSync, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { promisify } from "node:util"
import { eventually, freePort } from "./ServerProcess.ts"

const versions = "/usr/lib/postgresql"
const [bin] = fs.existsSync(versions)
  ? fs
      .readdirSync(versions)
      .map((version) => path.join(versions, version, "bin"))
      .filter((folder) => fs.existsSync(path.join(folder, "initdb")))
  : []

/**
 * PostgreSQL refuses to run as root. For root, it runs as the user that its package has created.
 */
const isRoot = process.getuid?.() === 0
const [uid, gid] = isRoot
  ? (() => {
      try {
        return ["-u", "-g"].map((flag) =>
          Number(execFileSync("id", [flag, "postgres"], { stdio: "pipe" }))
        )
      } catch {
        return []
      }
    })()
  : [process.getuid?.(), process.getgid?.()]

/** Why this machine cannot run a cluster. Undefined if it can. */
export const clusterSkipReason =
  bin === undefined
    ? `no PostgreSQL in ${versions}`
    : uid === undefined || gid === undefined
      ? "no user to run PostgreSQL as"
      : undefined

const asUser = { uid, gid, cwd: os.tmpdir() }

const ownFolder = Effect.acquireRelease(
  Effect.sync(() => {
    if (uid === undefined || gid === undefined) throw new Error(clusterSkipReason)
    const made = fs.mkdtempSync(path.join(os.tmpdir(), "scheduling-pg-"))
    fs.chownSync(made, uid, gid)
    return made
  }),
  (made) => Effect.sync(() => fs.rmSync(made, { recursive: true, force: true }))
)

const pathOf = (program: string) => path.join(bin ?? versions, program)

const runWith =
  (env: Readonly<Record<string, string>>) =>
  (program: string, ...args: ReadonlyArray<string>) =>
    promisify(execFile)(pathOf(program), args, { ...asUser, env: { ...process.env, ...env } })

const run = runWith({})

/** The library in Debian's package `faketime`. */
const [faketime] = fs.globSync("/usr/lib/*/faketime/libfaketime.so.1")

/** Why a cluster on this machine cannot have its own clock. Undefined if it can. */
export const clockSkipReason =
  faketime === undefined ? "no faketime, as in Debian's package of that name" : clusterSkipReason

/**
 * Creates a PostgreSQL cluster that tests can stop and freeze. It is not started yet. The server
 * runs in the environment `env`.
 */
export const makePostgresCluster = Effect.fnUntraced(function* (
  maxConnections: number,
  env: Readonly<Record<string, string>> = {}
) {
  const folder = yield* ownFolder
  const data = path.join(folder, "data")
  yield* Effect.promise(() =>
    run("initdb", "-D", data, "-U", "owner", "-A", "trust", "-N", "-E", "UTF8")
  )
  const settings = `max_connections = ${maxConnections}
    shared_buffers = 8MB
    fsync = off`
  return yield* operate(folder, settings, maxConnections, env)
})

/** The environment for a server whose clock can be stepped, and a function that steps it. */
export const steppableClock = Effect.gen(function* () {
  const file = path.join(yield* ownFolder, "offset")
  const setAhead = (ms: number) =>
    Effect.sync(() => fs.writeFileSync(file, `${ms < 0 ? "-" : "+"}${Math.abs(ms) / 1_000}`))
  yield* setAhead(0)
  fs.chmodSync(file, 0o644)
  const env = {
    LD_PRELOAD: faketime ?? "",
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1"
  }
  return { env, setAhead }
})

type PostgresCluster = Effect.Success<ReturnType<typeof makePostgresCluster>>

/** Creates a standby for a running cluster. It is not started yet. */
export const makeStandby = Effect.fnUntraced(function* (primary: PostgresCluster) {
  const folder = yield* ownFolder
  const data = path.join(folder, "data")
  const from = `host=127.0.0.1 port=${primary.port} user=owner`
  yield* Effect.promise(() =>
    run("pg_basebackup", "-d", from, "-D", data, "-R", "-N", "-c", "fast")
  )
  return yield* operate(folder, "", primary.maxConnections)
})

/** Controls the cluster in a folder, using its own port. */
const operate = Effect.fnUntraced(function* (
  folder: string,
  settings: string,
  maxConnections: number,
  env: Readonly<Record<string, string>> = {}
) {
  const data = path.join(folder, "data")
  const port = yield* freePort
  fs.appendFileSync(
    path.join(data, "postgresql.conf"),
    `${settings}
    port = ${port}
    listen_addresses = '127.0.0.1'
    unix_socket_directories = '${folder}'\n`
  )

  const psql = (sql: string, user = "owner") => [
    `host=127.0.0.1 port=${port} user=${user} dbname=postgres`,
    "-v",
    "ON_ERROR_STOP=1",
    "-qtAc",
    sql
  ]
  const query = (sql: string) => run("psql", ...psql(sql))

  /** Finds the postmaster and its children, which do not share a process group. */
  const processes = () => {
    const postmaster = Number(
      fs.readFileSync(path.join(data, "postmaster.pid"), "utf8").split("\n")[0]
    )
    const children = fs
      .readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        try {
          const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8")
          return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === postmaster
        } catch {
          return false
        }
      })
    return [postmaster, ...children.map(Number)]
  }
  const signal = (name: NodeJS.Signals) =>
    Effect.sync(() => {
      for (const pid of processes()) {
        try {
          process.kill(pid, name)
        } catch {
          // The backend has already exited.
        }
      }
    })

  const control = (...args: ReadonlyArray<string>) =>
    Effect.promise(() =>
      runWith(env)("pg_ctl", "-D", data, "-w", "-l", path.join(folder, "log"), ...args)
    )
  yield* Effect.addFinalizer(() =>
    fs.existsSync(path.join(data, "postmaster.pid"))
      ? Effect.andThen(signal("SIGCONT"), control("stop", "-m", "immediate"))
      : Effect.void
  )

  return {
    port,
    maxConnections,
    url: `postgres://app@127.0.0.1:${port}/postgres`,
    start: control("start"),
    stop: control("stop", "-m", "fast"),
    /** Simulates a power failure, after which the next start must recover. */
    crash: control("stop", "-m", "immediate"),
    /** Kills the server, as if the machine had failed. The next start cleans up shared memory. */
    kill: Effect.acquireRelease(signal("SIGKILL"), () => control("start")),
    promote: control("promote"),
    freeze: signal("SIGSTOP"),
    thaw: signal("SIGCONT"),
    query: (sql: string) => Effect.promise(() => query(sql)),
    /** The URL for a user who is always able to connect. */
    ownerUrl: `postgres://owner@127.0.0.1:${port}/postgres`,
    /** Closes users' connections, and rejects new ones until the scope closes. */
    refuseConnections: Effect.acquireRelease(
      Effect.promise(async () => {
        await query("ALTER ROLE app CONNECTION LIMIT 0")
        await query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'")
      }),
      () => Effect.promise(() => query("ALTER ROLE app CONNECTION LIMIT -1"))
    ),
    /** Takes all connections that are available to users, until the scope closes. */
    takeAllConnections: Effect.gen(function* () {
      const sleepers = yield* Effect.acquireRelease(
        Effect.sync(() =>
          Array.from({ length: maxConnections }, () =>
            spawn(pathOf("psql"), psql("SELECT pg_sleep(600)", "app"), {
              ...asUser,
              stdio: "ignore"
            })
          )
        ),
        // A backend that sleeps does not notice that its client is gone.
        (all) =>
          Effect.promise(async () => {
            for (const sleeper of all) sleeper.kill("SIGKILL")
            await query(
              "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)'"
            )
          })
      )
      // Sleepers without a connection have exited. The others hold all connections.
      yield* eventually("a server without a free connection", async () =>
        sleepers.some(({ exitCode }) => exitCode !== null)
      )
    })
  }
})

/** A cluster that allows so few connections that a test can take all of them. */
export const postgresCluster = makePostgresCluster(12)
