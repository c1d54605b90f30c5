import { Cause, Effect, Exit, Layer } from "effect"
import { HttpServer } from "effect/http"
import type { Teardown } from "effect/Runtime"
import { resolve } from "node:path"
import { AppLayer } from "./App.ts"
import { AppConfig } from "./Config.ts"
import { HttpServerLayer } from "./platform/HttpServer.ts"
import { LoggingLayer } from "./platform/Logging.ts"
import { DatabaseLayer } from "./platform/Sql.ts"

/** The process: the application on the store, socket and logs that the environment asks for. */
export const ServerLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { databaseUrl, dataDir, registration } = yield* AppConfig
    const { address } = yield* HttpServer.HttpServer
    const url = HttpServer.formatAddress(address)
    const store =
      databaseUrl === undefined ? `the embedded store in ${resolve(dataDir)}` : "PostgreSQL"
    yield* Effect.addFinalizer(() => Effect.sync(exitAtLast))
    yield* Effect.logInfo(`listening on ${url}, with ${store}`)
    yield* Effect.logInfo(
      registration === "open"
        ? `the API reference is at ${url}/docs, and POST ${url}/v1/auth/register makes an account`
        : `the API reference is at ${url}/docs`
    )
  })
).pipe(
  Layer.provide(AppLayer),
  Layer.provideMerge(DatabaseLayer),
  // Before the database: a second process on the port must not get as far as its migrations, and
  // while the database is away callers are told so.
  Layer.provideMerge(HttpServerLayer),
  Layer.provideMerge(LoggingLayer),
  Layer.provideMerge(AppConfig.layer)
)

/**
 * A database that froze answers nothing, not even that a statement was cancelled: what waits for it
 * would keep the process. Requests have 25 s to finish, the rest has what is left of 30. Added by the
 * last layer, so that it is the first to know.
 */
const exitAtLast = () => {
  setTimeout(() => {
    process.stderr.write("stopped without what did not finish within 30 s\n")
    process.exit(1)
  }, 30_000).unref()
}

/** A start that fails says why in one line; what nobody foresaw comes with its stack. */
export const reportStartFailure = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.tapCause(program, (cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.void
    const error = Cause.squash(cause)
    const isForeseen = cause.reasons.every(Cause.isFailReason) && error instanceof Error
    return Effect.sync(() =>
      process.stderr.write(`cannot start: ${isForeseen ? error.message : Cause.pretty(cause)}\n`)
    )
  })

/** Asked to stop, and stopped: that is success. */
export const teardown: Teardown = (exit, onExit) =>
  onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1)
