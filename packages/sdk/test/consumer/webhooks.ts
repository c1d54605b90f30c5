/**
 * A user's program. It is type-checked here, and against the packed package by check-package.ts.
 */
import { testHeaders, unwrap, verify, WebhookVerificationError } from "@scheduling/sdk/webhooks"

export const main = async (): Promise<string> => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  const payload = '{"full":true}'
  const headers = await testHeaders({ payload, secret, executionId: "e1" })
  const request = new Request("https://example.com", { method: "POST", headers, body: payload })
  const event = await verify(await request.text(), request.headers, [secret], { tolerance: 60 })
  const at: Date = event.sentAt
  const reason = await verify("forged", headers, secret).then(
    () => "none",
    (error: unknown) => (error instanceof WebhookVerificationError ? error.reason : "other")
  )
  const body = JSON.stringify({ id: "m1", type: "worker.online", data: { worker: { id: "w1" } } })
  const signed = await testHeaders({ payload: body, secret, eventId: "m1" })
  const message = await unwrap(body, signed, secret)
  const worker: string = message.type === "worker.online" ? message.data.worker.id : ""
  return [event.executionId, at.getTime() > 0, reason, worker].join()
}
