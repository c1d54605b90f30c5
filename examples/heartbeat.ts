/** A job that pings its monitor when it starts, finishes and fails: `npx node examples/heartbeat.ts` */
import { setTimeout as sleep } from "node:timers/promises"
import { demoAccount } from "./support/demo.ts"

const client = await demoAccount()
const monitor = await client.heartbeatMonitors.create({
  name: "Nightly backup",
  schedule: "0 3 * * *",
  timezone: "Europe/Berlin",
  max_duration_seconds: 3600
})
const pingUrl = monitor.ping_url ?? ""
console.log(`Created the monitor "${monitor.name}", ${monitor.status}.`)

/** Runs the job between two pings. If a ping fails, the job runs all the same. */
const watched = async <A>(job: () => Promise<A>): Promise<A> => {
  const rid = crypto.randomUUID()
  const ping = (signal: string, body?: string) =>
    fetch(`${pingUrl}${signal}?rid=${rid}`, {
      method: "POST",
      signal: AbortSignal.timeout(10_000),
      ...(body === undefined ? {} : { body })
    }).catch((error: unknown) => console.error("no ping:", error))
  await ping("/start")
  try {
    const result = await job()
    await ping("/0")
    return result
  } catch (error) {
    await ping("/fail", String(error))
    throw error
  }
}

await watched(() => sleep(50))
const { last_duration_ms, status } = await client.heartbeatMonitors.get(monitor.id)
console.log(`It is ${status}. The run took ${last_duration_ms} ms.`)

await watched(() => Promise.reject(new Error("the disk is full"))).catch(() => {})
for await (const incident of client.incidents.list({ subject_id: monitor.id })) {
  console.log(`An incident is open: ${incident.cause.message}`)
}

await watched(() => sleep(50))
for await (const event of client.heartbeatMonitors.listEvents(monitor.id)) {
  console.log(`  ${event.type}: ${event.status}${event.body === null ? "" : `, ${event.body}`}`)
}
