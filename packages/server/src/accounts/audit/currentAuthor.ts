import { actorOf, Principal } from "@scheduling/domain/auth/Principal"
import type { Actor } from "@scheduling/domain/shared/Actor"
import { Context, Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { type RequestOrigin, originOf } from "../../http/index.ts"

/** The author of a change: who made it, and with which request. */
export interface Author {
  readonly actor: Actor
  readonly origin: Pick<RequestOrigin, "ip" | "request_id">
}

/**
 * Makes the service itself the author of an effect's changes, even if a request triggers them.
 * `cause` replaces the request id and says why the service acted.
 */
export const withServiceAuthor = (kind: "plan" | "system", cause: string) =>
  Effect.provideService(Override, {
    actor: { kind, id: null, name: null },
    origin: { ip: null, request_id: cause }
  })

const Override = Context.Reference<Author | undefined>(
  "@scheduling/server/accounts/audit/currentAuthor/Override",
  { defaultValue: () => undefined }
)

/**
 * The author of the current request's changes, or the service if there is no request. It is taken
 * from the context, so that services need no parameter for it.
 */
export const currentAuthor: Effect.Effect<Author> = Effect.withFiber(({ context }) => {
  const override = Context.get(context, Override)
  if (override !== undefined) return Effect.succeed(override)
  const principal = Context.getOrUndefined(context, Principal)
  const request = Context.getOrUndefined(context, HttpServerRequest.HttpServerRequest)
  return Effect.succeed({
    actor: principal === undefined ? theService : actorOf(principal),
    origin: request === undefined ? serviceOrigin : originOf(request)
  })
})

const theService: Actor = { kind: "system", id: null, name: null }

const serviceOrigin = { ip: null, request_id: "service" }

/**
 * Returns the actor with this id. The actor's name is known only if the actor made the current
 * request. Without an id, returns the service if it acts (see `withServiceAuthor`), and otherwise null.
 */
export const findActorById = (id: string | null): Effect.Effect<Actor | null> =>
  Effect.withFiber(({ context }) => {
    if (id === null) return Effect.succeed(Context.get(context, Override)?.actor ?? null)
    const principal = Context.getOrUndefined(context, Principal)
    const current = principal && actorOf(principal)
    return Effect.succeed(current?.id === id ? current : { kind: "user", id, name: null })
  })
