import type { SchedulingClient } from "@scheduling/sdk"
import { poll } from "./poll.ts"
import { startReceiver } from "./startReceiver.ts"

/** Creates a run that has reported progress but no result, and a run whose callback was sent. */
export const seedCallbacks = async (client: SchedulingClient): Promise<void> => {
  const { answer, url } = await startReceiver()
  await client.delayed.create({
    name: "Render the yearbook",
    url,
    delay_seconds: 0,
    timeout_seconds: 3_600,
    completion: "callback"
  })
  await poll(async () => answer.calls.length > 0)
  const completeUrl = String(answer.calls[0]?.["scheduling-complete-url"])
  for (const body of ["112 of 480 pages", "260 of 480 pages"]) {
    await fetch(`${completeUrl}/log`, { method: "POST", body })
  }
  const { id } = await client.cron.create({
    name: "Close the books",
    schedule: "0 1 1 * *",
    url,
    on_success: { url }
  })
  await client.cron.runAndWait(id)
}
