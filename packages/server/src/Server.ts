import { Cause, Effect, Exit, Layer } from "effect"
import { HttpServer } from "effect/http"
import type { Teardown } from "effect/Runtime"
import { resolve } from "node:path"
import { AppLayer, ControlLayer, MetricsLayer } from "./App.ts"
import { AppConfig, LoggingLayer, version } from "./core/index.ts"
import { HttpServerLayer } from "./http/index.ts"
import { ProcessLogLayer } from "./ProcessLog.ts"
import { DatabaseLayer } from "./store/index.ts"

/** The process: a node with the store, the socket and the logs that the environment configures. */
export const ServerLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { databaseUrl, dataDir, registration } = yield* AppConfig
    const { address } = yield* HttpServer.HttpServer
    const url = HttpServer.formatAddress(address)
    const store =
      databaseUrl === undefined ? `the embedded store in ${resolve(dataDir)}` : "PostgreSQL"
    yield* Effect.addFinalizer(() => Effect.sync(exitAfterDeadline))
    yield* Effect.logInfo(`version ${version} is listening on ${url}, with ${store}`)
    yield* Effect.logInfo(
      `${registration === "open" ? "sign up or sign in" : "sign in"} at ${url}; the API reference is at ${url}/docs`
    )
  })
).pipe(
  Layer.provide(AppLayer),
  // Requests are served once the operator's commands and the metrics work.
  Layer.provide([ControlLayer, MetricsLayer]),
  Layer.provideMerge(DatabaseLayer),
  // The socket is opened before the database. A second process on the same port therefore stops
  // before its migrations, and clients receive a response even while the database is unavailable.
  Layer.provideMerge(HttpServerLayer),
  Layer.provideMerge(ProcessLogLayer),
  Layer.provideMerge(LoggingLayer),
  Layer.provideMerge(AppConfig.layer)
)

/**
 * Ends the process 30 s after it was told to stop, even if some work still waits for a frozen
 * database. Requests have 25 s to finish, and all other work has the remaining 5 s. The last layer
 * adds this finalizer, so that it runs first.
 */
const exitAfterDeadline = () => {
  setTimeout(() => {
    process.stderr.write("stopped, although some work did not finish within 30 s\n")
    process.exit(1)
  }, 30_000).unref()
}

/** Prints why the start failed, in one line. An unexpected failure also prints its stack. */
export const reportStartFailure = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.tapCause(program, (cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.void
    const error = Cause.squash(cause)
    const isForeseen = cause.reasons.every(Cause.isFailReason) && error instanceof Error
    return Effect.sync(() =>
      process.stderr.write(`cannot start: ${isForeseen ? error.message : Cause.pretty(cause)}\n`)
    )
  })

/** Exits with 0 if the process was asked to stop, and with 1 if it failed. */
export const teardown: Teardown = (exit, onExit) =>
  onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1)
