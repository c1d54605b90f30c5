import type { Signing } from "@scheduling/calls/signing"
import { OutgoingCalls } from "@scheduling/calls/OutgoingCalls"
import { callLayer, callRequest } from "@scheduling/calls/testing/CallTargets"
import type { NotificationEvent } from "@scheduling/domain/notifications/NotificationEvent"
import { Effect } from "effect"
import type {
  ChannelConfig,
  ChannelKind,
  OutgoingRequest,
  Transports,
  ChannelResult
} from "../../../src/notifications/kinds/ChannelKind.ts"
import { messageOf, type MessageEvent } from "../../../src/notifications/kinds/Message.ts"
import { startHttpReceiver, type Reply, type Received } from "./receivers.ts"
import { describeEvent } from "../../../src/notifications/routing/describeEvent.ts"
import { announcementData } from "./events.ts"

export const deliveryId = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d42"
export const subjectId = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
export const workspaceId = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"

export const messageEvent = (
  fields: Partial<MessageEvent> & { readonly event?: NotificationEvent } = {}
): MessageEvent => ({
  event: "execution.failed",
  subject_id: subjectId,
  name: "Nightly report",
  reason: "connection refused",
  at: "2026-01-31T09:30:00.000Z",
  data: describedData(fields.event ?? "execution.failed"),
  facts: [{ name: "Execution", value: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d43" }],
  ...fields
})

/** Creates the data that routing would store for the event. */
const describedData = (event: NotificationEvent) =>
  describeEvent({
    event,
    subject_id: subjectId,
    at: new Date(0),
    data: announcementData(event, subjectId)
  }).data

export const messageWith = (
  counts: { readonly begun?: number; readonly ended?: number; readonly other?: number },
  shown: ReadonlyArray<MessageEvent>,
  workspaceName = "Acme"
) =>
  messageOf({
    id: deliveryId,
    workspace_id: workspaceId,
    workspace_name: workspaceName,
    begun: 0,
    ended: 0,
    other: 0,
    ...counts,
    shown,
    incident_key: subjectId,
    created_at: new Date(Date.UTC(2026, 0, 31, 9, 30))
  })

export const downMessage = messageWith({ begun: 1 }, [messageEvent()])
export const upMessage = messageWith({ ended: 1 }, [
  messageEvent({ event: "task.recovered", reason: null })
])
export const otherMessage = messageWith({ other: 1 }, [
  messageEvent({ event: "certificate.expiring", reason: "in 7 days" })
])

/** A message with long, hostile names and errors. */
export const hostileMessage = messageWith(
  { begun: 12_345 },
  Array.from({ length: 10 }, (_, index) =>
    messageEvent({
      name: `<!channel> @all @**all** <users/all> *b* _i_ [x](http://evil.test) \r\nBcc: x@evil.test\u0000 ${index}${"\u{1F600}".repeat(80)}`,
      reason: `</td><script>alert(1)</script> \u2028 "quoted" \\ ${"e".repeat(400)}`
    })
  ),
  "Acme\r\nBcc: x@evil.test <b>"
)

export interface SentRequests {
  readonly result: ChannelResult
  readonly requests: ReadonlyArray<Received>
  /** The URLs to which the messages would have been sent. */
  readonly urls: ReadonlyArray<URL>
}

/** Sends messages with the real calling code, but to a server that replaces the vendor's. */
export const sendBy = (
  kind: ChannelKind,
  config: ChannelConfig,
  message = downMessage,
  answer: (request: Received) => Reply = () => ({})
): Effect.Effect<SentRequests> =>
  Effect.gen(function* () {
    const receiver = yield* startHttpReceiver(answer)
    const call = yield* OutgoingCalls
    const urls: Array<URL> = []
    const http =
      (signing?: Signing) =>
      ({ body, headers = {}, method, url }: OutgoingRequest) => {
        const target = new URL(url)
        urls.push(target)
        return call.run(
          callRequest(receiver.url + target.pathname + target.search, {
            execution_id: message.id,
            method,
            headers,
            body:
              body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
            timeout_seconds: 2,
            signing
          })
        )
      }
    const transports: Transports = {
      http: http(),
      signedHttp: http(callRequest("").signing),
      mail: () => Effect.die(new Error("no mail here")),
      link: (what) => `https://scheduling.test/notifications/${what}/token`
    }
    const result = yield* kind.send(config, message, transports)
    return { result, requests: receiver.received, urls }
  }).pipe(Effect.scoped, Effect.provide(callLayer(), { local: true }))
