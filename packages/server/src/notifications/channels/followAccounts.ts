import { Effect, Layer } from "effect"
import { AccountEvents } from "../../accounts/index.ts"
import { Confirming } from "./Confirming.ts"
import { Starter } from "./Starter.ts"

/** Keeps the email channels of workspaces in step with their owners' and members' addresses. */
export const FollowAccountsLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const confirming = yield* Confirming
    const starter = yield* Starter
    yield* (yield* AccountEvents).subscribe({
      workspaceCreated: starter.begin,
      emailVerified: confirming.confirmOfMember,
      memberEmailGone: confirming.endOfMember
    })
  })
)
