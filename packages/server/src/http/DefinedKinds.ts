import type { InsufficientScope } from "@scheduling/domain/auth/AuthErrors"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Principal } from "@scheduling/domain/auth/Principal"
import type { DefinedKind as KindName } from "@scheduling/domain/definitions/DefinitionsDocument"
import type {
  Conflict,
  NotFound,
  QuotaExceeded,
  RateLimited,
  Stale,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { UpsertResult } from "../core/index.ts"

/** The errors with which an operation on a definition can fail. */
export type DefinitionFailure =
  | Conflict
  | InsufficientScope
  | NotFound
  | QuotaExceeded
  | RateLimited
  | Stale
  | ValidationFailed

type Operation<A> = Effect.Effect<
  A,
  DefinitionFailure,
  HttpServerRequest.HttpServerRequest | Principal
>

interface Named {
  readonly id: string
  readonly key: string
}

/**
 * The operations on records of one kind that a document of definitions needs. Their definition
 * argument has the type of the kind.
 */
export interface DefinedKind {
  readonly kind: KindName
  /** Runs before a change, outside its transaction. */
  readonly prepare?: (workspaceId: AuthorizedWorkspaceId, definition: never) => Operation<void>
  readonly upsert: (
    workspaceId: AuthorizedWorkspaceId,
    key: string,
    definition: never
  ) => Operation<UpsertResult<object>>
  readonly get: (workspaceId: AuthorizedWorkspaceId, record: Named) => Operation<object>
  readonly remove: (workspaceId: AuthorizedWorkspaceId, record: Named) => Operation<void>
}

/**
 * The kinds of records that a document can define. The handlers of each kind register it, so that
 * documents support a new kind without further code.
 */
export class DefinedKinds extends Context.Service<
  DefinedKinds,
  {
    readonly add: (kind: DefinedKind) => Effect.Effect<void>
    readonly get: (name: KindName) => DefinedKind
  }
>()("@scheduling/server/http/DefinedKinds") {
  static readonly layer: Layer.Layer<DefinedKinds> = Layer.sync(DefinedKinds, () => {
    const kinds = new Map<KindName, DefinedKind>()
    return DefinedKinds.of({
      add: (kind) => Effect.sync(() => void kinds.set(kind.kind, kind)),
      get: (name) => {
        const kind = kinds.get(name)
        if (kind === undefined) throw new Error(`no handler is registered for the kind ${name}`)
        return kind
      }
    })
  })
}
