import { Duration, Effect } from "effect"
import type { Scope } from "effect"
import * as path from "node:path"
import type { Duplex } from "node:stream"
import { Worker } from "node:worker_threads"
import { makeFolder } from "../../core/index.ts"
import type { FromStoreThread, ToStoreThread, StoreThreadOptions } from "./channel.ts"
import { Connection } from "./Connection.ts"
import { DataDirInUse, lockDataDir } from "./DataDirLock.ts"
import { EmbeddedStoreError } from "./EmbeddedStoreError.ts"
import { initializeDirectory, initializeTemplate } from "./initialize.ts"
import { restrictToOwner } from "./restrictToOwner.ts"

export { DataDirInUse, EmbeddedStoreError }

export interface EmbeddedPostgresOptions {
  /**
   * The directory that contains the directory `postgres` of the store. If undefined, the store is
   * in memory.
   */
  readonly dataDir: string | undefined
  /**
   * The packed files of a new in-memory store. If undefined, the store is initialized from scratch.
   */
  readonly template?: string
  /**
   * The number of bytes of WAL after which a checkpoint runs. A single-user backend runs no
   * checkpoints by itself, so the WAL, and with it the recovery after a crash, would grow without
   * bound.
   */
  readonly checkpointAfterBytes?: number
  /** How often a table is vacuumed, because a single-user backend has no autovacuum. */
  readonly maintainEvery?: Duration.Input
  /**
   * The time after which a store that does not close is killed. Docker kills a container 10 s after
   * a stop, and other parts must also close within that time.
   */
  readonly closeWithin?: Duration.Input
}

const defaultCheckpointAfterBytes = 32 * 1024 * 1024

/**
 * Opens PostgreSQL (PGlite) in a separate thread, so that a query never blocks the thread that
 * serves HTTP. The returned function is the driver's `stream`: each call opens a connection,
 * without a port or a socket file.
 *
 * There is only one backend, so the pool must have `maxConnections: 1`. A second connection waits
 * until the first is closed, and an open transaction makes other statements wait.
 *
 * If the thread dies, its connections fail and the next connection starts a new thread. The store
 * recovers from its WAL in less than a second. Ending the process instead would abort the calls in
 * progress.
 */
export const openEmbeddedPostgres = Effect.fn("openEmbeddedPostgres")(function* (
  options: EmbeddedPostgresOptions
): Effect.fn.Return<() => Duplex, DataDirInUse | EmbeddedStoreError, Scope.Scope> {
  const dataDir = options.dataDir === undefined ? undefined : path.resolve(options.dataDir)
  if (dataDir !== undefined) {
    yield* Effect.try({
      try: () => makeFolder(dataDir),
      catch: (cause) =>
        new EmbeddedStoreError({
          dataDir,
          reason: cause instanceof Error ? cause.message : String(cause),
          cause
        })
    })
    yield* lockDataDir(dataDir)
  }
  const attempt = <A>(run: (signal: AbortSignal) => Promise<A>) =>
    Effect.tryPromise({
      try: run,
      catch: (cause) =>
        new EmbeddedStoreError({
          dataDir,
          reason: cause instanceof Error ? cause.message : String(cause),
          cause
        })
    })
  const files = yield* attempt((signal) => initialize(dataDir, options.template, signal))
  const runFork = Effect.runForkWith(yield* Effect.context())
  const store = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new Store(
          {
            files,
            checkpointAfterBytes: options.checkpointAfterBytes ?? defaultCheckpointAfterBytes,
            maintainEveryMillis: Duration.toMillis(options.maintainEvery ?? "1 minute")
          },
          (reason) =>
            runFork(
              Effect.logError("The embedded store stopped; the next statement starts it again", {
                reason
              })
            )
        )
    ),
    (store) =>
      // The close is interruptible, so that the release does not wait for a statement that never
      // finishes.
      Effect.interruptible(Effect.promise(() => store.close())).pipe(
        Effect.timeoutOrElse({
          duration: options.closeWithin ?? "5 seconds",
          orElse: () => Effect.promise(() => store.kill())
        })
      )
  )
  yield* attempt(() => store.ready())
  return () => store.connect()
})

const initialize = async (
  dataDir: string | undefined,
  template: string | undefined,
  signal: AbortSignal
): Promise<StoreThreadOptions["files"]> => {
  if (dataDir === undefined) {
    return { _tag: "Template", path: template ?? (await initializeTemplate(signal)) }
  }
  const directory = path.join(dataDir, "postgres")
  await initializeDirectory(directory, signal)
  restrictToOwner(directory)
  return { _tag: "Directory", path: directory }
}

class Store {
  readonly #options: StoreThreadOptions
  readonly #onFailure: (reason: string) => void
  #running: Running | undefined
  #closed = false

  constructor(options: StoreThreadOptions, onFailure: (reason: string) => void) {
    this.#options = options
    this.#onFailure = onFailure
  }

  ready(): Promise<void> {
    return this.#start().ready
  }

  connect(): Duplex {
    if (this.#closed) throw new Error("The embedded store is closed")
    const { connections, worker } = this.#start()
    const connection = new Connection(worker)
    connections.add(connection)
    connection.once("close", () => connections.delete(connection))
    return connection
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#running === undefined) return
    const message: ToStoreThread = { _tag: "Close" }
    this.#running.worker.postMessage(message)
    await this.#running.exit
  }

  async kill(): Promise<void> {
    await this.#running?.worker.terminate()
  }

  #start(): Running {
    if (this.#running !== undefined) return this.#running
    const worker = new Worker(new URL("./worker.ts", import.meta.url), {
      name: "embedded-postgres",
      workerData: this.#options
    })
    const connections = new Set<Duplex>()
    const { promise: ready, resolve: onReady, reject: onFailed } = Promise.withResolvers<void>()
    const { promise: exit, resolve: onExit } = Promise.withResolvers<void>()
    // `ready` is awaited only at the first start. If a later thread fails, its connections report
    // the failure.
    ready.catch(() => {})
    let reason = "its thread ended"
    let opened = false
    worker.on("message", (message: FromStoreThread) => {
      if (message._tag === "Failed") {
        reason = message.reason
      } else {
        opened = true
        onReady()
      }
    })
    worker.on("error", (error) => {
      reason = String(error)
    })
    worker.on("exit", () => {
      this.#running = undefined
      // The connections are closed only now, because their clients reconnect and thereby start a
      // new thread.
      const error = new Error(`The embedded store stopped: ${reason}`)
      for (const connection of connections) connection.destroy(error)
      onFailed(new Error(reason))
      if (opened && !this.#closed) this.#onFailure(reason)
      onExit()
    })
    this.#running = { connections, exit, ready, worker }
    return this.#running
  }
}

interface Running {
  readonly worker: Worker
  readonly connections: Set<Duplex>
  readonly ready: Promise<void>
  readonly exit: Promise<void>
}
