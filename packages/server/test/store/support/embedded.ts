import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Schedule } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import type { Duplex } from "node:stream"
import { fileURLToPath } from "node:url"
import {
  type EmbeddedPostgresOptions,
  openEmbeddedPostgres
} from "../../../src/store/embedded/EmbeddedPostgres.ts"

export const clientOf = (stream: () => Duplex) =>
  PgClient.layerFrom(
    PgClient.make({
      stream,
      maxConnections: 1,
      multiplex: true,
      username: "postgres",
      database: "postgres"
    })
  )

export const storeLayer = (options: EmbeddedPostgresOptions) =>
  Layer.unwrap(Effect.map(openEmbeddedPostgres(options), clientOf))

export const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "embedded-"))),
  (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
)

/** Reads the store's state from pg_control. */
export const controlState = (dataDir: string): number =>
  fs.readFileSync(path.join(dataDir, "postgres/global/pg_control")).readInt32LE(16)
export const cleanShutdownState = 1

/** Checks a condition repeatedly, for as long as a busy machine could take. */
export const eventually = <E, R>(condition: Effect.Effect<boolean, E, R>) =>
  Effect.flatMap(condition, (met) => (met ? Effect.void : Effect.fail("not yet" as const))).pipe(
    Effect.retry(Schedule.spaced("5 millis")),
    Effect.timeout("15 seconds")
  )

/** Starts a process that writes until it is killed, at the end of the test at the latest. */
export const startWriter = (dataDir: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const script = fileURLToPath(new URL("./embeddedWriter.ts", import.meta.url))
      return spawn(process.execPath, [script, dataDir], { stdio: ["ignore", "pipe", "pipe"] })
    }),
    kill
  )

export const kill = (child: ChildProcess) =>
  Effect.promise(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill("SIGKILL")
    await once(child, "close")
  })

/** Waits until a process has printed this many lines, and returns its output. */
export const waitForLines = (child: ChildProcess, lines: number) =>
  Effect.callback<() => ReadonlyArray<string>, Error>((resume) => {
    let text = ""
    const complete = () => text.split("\n").slice(0, -1)
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString()
      if (complete().length >= lines) resume(Effect.succeed(complete))
    })
    child.once("close", () => resume(Effect.fail(new Error(`the writer ended early: ${text}`))))
  })
