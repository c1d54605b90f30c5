import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { UserId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer } from "effect"
import type { RequestOrigin } from "../http/index.ts"

/**
 * Handlers with which other modules react to changes of accounts and workspaces. Each handler runs
 * in the transaction of the change.
 */
export interface AccountSubscriber {
  readonly workspaceCreated: (
    workspaceId: AuthorizedWorkspaceId,
    ownerId: UserId
  ) => Effect.Effect<void>
  /** Called when a user has verified an email address. */
  readonly emailVerified: (userId: string, email: string, now: Date) => Effect.Effect<void>
  /** Called when an email address no longer belongs to any member of these workspaces. */
  readonly memberEmailRemoved: (
    email: string,
    workspaceIds: ReadonlyArray<string>,
    origin: RequestOrigin
  ) => Effect.Effect<void>
}

/** Publishes changes of accounts to the subscribed modules. */
export class AccountEvents extends Context.Service<
  AccountEvents,
  AccountSubscriber & { readonly subscribe: (subscriber: AccountSubscriber) => Effect.Effect<void> }
>()("@scheduling/server/accounts/AccountEvents") {
  static readonly layer: Layer.Layer<AccountEvents> = Layer.sync(AccountEvents, () => {
    const subscribers: Array<AccountSubscriber> = []
    const publish = (event: (subscriber: AccountSubscriber) => Effect.Effect<void>) =>
      Effect.suspend(() => Effect.forEach(subscribers, event, { discard: true }))
    return AccountEvents.of({
      subscribe: (subscriber) => Effect.sync(() => void subscribers.push(subscriber)),
      workspaceCreated: (workspaceId, ownerId) =>
        publish((subscriber) => subscriber.workspaceCreated(workspaceId, ownerId)),
      emailVerified: (userId, email, now) =>
        publish((subscriber) => subscriber.emailVerified(userId, email, now)),
      memberEmailRemoved: (email, workspaceIds, origin) =>
        publish((subscriber) => subscriber.memberEmailRemoved(email, workspaceIds, origin))
    })
  })
}
