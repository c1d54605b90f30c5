import { Cause, Effect, Exit, Layer } from "effect"
import { HttpServer } from "effect/http"
import type { Teardown } from "effect/Runtime"
import { resolve } from "node:path"
import { AppLayer, ControlLayer, MetricsLayer } from "./App.ts"
import { AppConfig, LoggingLayer, version } from "./core/index.ts"
import { HttpServerLayer } from "./http/index.ts"
import { ProcessLogLayer } from "./ProcessLog.ts"
import { DatabaseLayer } from "./store/index.ts"

/** The process: the application with the store, socket and logs that the environment asks for. */
export const ServerLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { databaseUrl, dataDir, registration } = yield* AppConfig
    const { address } = yield* HttpServer.HttpServer
    const url = HttpServer.formatAddress(address)
    const store =
      databaseUrl === undefined ? `the embedded store in ${resolve(dataDir)}` : "PostgreSQL"
    yield* Effect.addFinalizer(() => Effect.sync(exitAtLast))
    yield* Effect.logInfo(`version ${version} is listening on ${url}, with ${store}`)
    yield* Effect.logInfo(
      registration === "open"
        ? `the API reference is at ${url}/docs, and POST ${url}/v1/auth/register creates an account`
        : `the API reference is at ${url}/docs`
    )
  })
).pipe(
  Layer.provide([AppLayer, ControlLayer, MetricsLayer]),
  Layer.provideMerge(DatabaseLayer),
  // The socket comes before the database. A second process on the same port must not get as far as
  // its migrations, and clients get an answer even while the database is unavailable.
  Layer.provideMerge(HttpServerLayer),
  Layer.provideMerge(ProcessLogLayer),
  Layer.provideMerge(LoggingLayer),
  Layer.provideMerge(AppConfig.layer)
)

/**
 * A frozen database answers nothing, not even that a statement was cancelled, and whatever waits
 * for it would keep the process alive. Requests have 25 s to finish, and the rest has what is left
 * of 30 s. The last layer adds this finalizer, so that it runs first.
 */
const exitAtLast = () => {
  setTimeout(() => {
    process.stderr.write("stopped; some work did not finish within 30 s\n")
    process.exit(1)
  }, 30_000).unref()
}

/** A failed start says why in one line. An unexpected failure also prints its stack. */
export const reportStartFailure = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.tapCause(program, (cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.void
    const error = Cause.squash(cause)
    const isForeseen = cause.reasons.every(Cause.isFailReason) && error instanceof Error
    return Effect.sync(() =>
      process.stderr.write(`cannot start: ${isForeseen ? error.message : Cause.pretty(cause)}\n`)
    )
  })

/** A process that was asked to stop and has stopped has succeeded. */
export const teardown: Teardown = (exit, onExit) =>
  onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1)
