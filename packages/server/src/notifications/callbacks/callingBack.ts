import { Effect, Layer } from "effect"
import { Doorbell, loop, mayBeStuck } from "../../core/index.ts"
import { keysOfMany, pollMs, sendWhatIsDue } from "../sending/sendWhatIsDue.ts"
import { CallbackSender, maxSending, maxSendingOfShare, maxSendingTo } from "./CallbackSender.ts"
import { CallbackSorter } from "./CallbackSorter.ts"

/** What the loops below stand on. */
export const CallingBackLayer = Layer.merge(CallbackSender.layer, CallbackSorter.layer)

/**
 * The loops that tell the call-backs of tasks. They have places, statements and a pace of their
 * own, so that no alert waits for a call-back. While alerts take all that they may, nothing new
 * begins here.
 */
export const callingBack = Effect.fnUntraced(function* (
  bell: Doorbell,
  alertsAreCrowded: () => boolean
) {
  const sender = yield* CallbackSender
  const sorter = yield* CallbackSorter
  const sendBell = new Doorbell()
  yield* sendWhatIsDue({
    loopName: "sending call-backs",
    nameOf: ({ id }) => `call-back ${id}`,
    bell: sendBell,
    claim: (underWay) => {
      const room = alertsAreCrowded() ? 0 : maxSending - underWay.length
      return room <= 0
        ? Effect.succeed([])
        : sender.claim({
            limit: room,
            except: keysOfMany(underWay, maxSendingOfShare, ({ share }) => share),
            except_targets: keysOfMany(underWay, maxSendingTo, ({ target }) => target)
          })
    },
    send: sender.send,
    idleMs: sender.idleMs
  })

  const sortAll = Effect.gen(function* () {
    const sorted = yield* sorter.sort
    sendBell.ring()
    if (sorted !== "more") yield* bell.wait(sorted === "busy" ? pollMs / 20 : pollMs)
  })
  yield* Effect.forkScoped(loop("sorting call-backs", sortAll, mayBeStuck))
})
