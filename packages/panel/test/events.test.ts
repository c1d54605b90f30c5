import { describe, expect, it } from "vitest"
import { defaultRuleEvents, describeEvents } from "../src/notifications/events.ts"

describe("the events of a rule", () => {
  it("are joined by what happens, and then by what it happens to", () => {
    expect(describeEvents(defaultRuleEvents)).toBe(
      "a task, chain or monitor fails or recovers, or a certificate expires soon"
    )
    expect(describeEvents(["api_key.expiring", "execution.failed", "chain_run.failed"])).toBe(
      "a task or chain fails, or an API key expires soon"
    )
  })

  it("name the tags beside the records", () => {
    expect(describeEvents(["incident.opened"], ["billing", "checkout"])).toBe(
      "a monitor tagged billing or checkout goes down"
    )
  })
})
