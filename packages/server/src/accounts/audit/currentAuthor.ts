import { actorOf, Principal } from "@scheduling/domain/auth/Principal"
import type { Actor } from "@scheduling/domain/shared/Actor"
import { Context, Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { type RequestOrigin, originOf } from "../../http/index.ts"

/** Who makes a change, and from where. */
export interface Author {
  readonly actor: Actor
  readonly origin: Pick<RequestOrigin, "ip" | "request_id">
}

/**
 * Makes the service the author of the changes of an effect, also where a request causes them.
 * `cause` says in place of a request id what made the service act.
 */
export const actingAs = (kind: "plan" | "system", cause: string) =>
  Effect.provideService(Override, {
    actor: { kind, id: null, name: null },
    origin: { ip: null, request_id: cause }
  })

const Override = Context.Reference<Author | undefined>(
  "@scheduling/server/accounts/audit/currentAuthor/Override",
  { defaultValue: () => undefined }
)

/**
 * The author of the changes that the current request makes. It is found in the context, so that a
 * service which changes a definition need not be told. Without a request it is the service.
 */
export const currentAuthor: Effect.Effect<Author> = Effect.withFiber(({ context }) => {
  const override = Context.get(context, Override)
  if (override !== undefined) return Effect.succeed(override)
  const principal = Context.getOrUndefined(context, Principal)
  const request = Context.getOrUndefined(context, HttpServerRequest.HttpServerRequest)
  return Effect.succeed({
    actor: principal === undefined ? theService : actorOf(principal),
    origin: request === undefined ? nowhere : originOf(request)
  })
})

const theService: Actor = { kind: "system", id: null, name: null }

const nowhere = { ip: null, request_id: "service" }

/**
 * The actor with an id. Its name is known if it makes the request. Without an id nobody is known,
 * unless the service acts.
 */
export const namedActor = (id: string | null): Effect.Effect<Actor | null> =>
  Effect.withFiber(({ context }) => {
    if (id === null) return Effect.succeed(Context.get(context, Override)?.actor ?? null)
    const principal = Context.getOrUndefined(context, Principal)
    const current = principal && actorOf(principal)
    return Effect.succeed(current?.id === id ? current : { kind: "user", id, name: null })
  })
