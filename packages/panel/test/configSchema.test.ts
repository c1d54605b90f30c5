import { describe, expect, it } from "vitest"
import { configFieldsOf } from "../src/notifications/channels/configSchema.ts"

describe("the hints of a channel's fields", () => {
  it("are sentences without Markdown", () => {
    const properties = {
      url: { type: "string", description: "Signed with the `message_secret`." },
      chat_id: { type: "string", description: "The chat's id" },
      token: { type: "string", description: "Such as 123456:ABC…" }
    }
    expect(configFieldsOf({ properties }, []).map(({ hint }) => hint)).toEqual([
      "Signed with the message_secret.",
      "The chat's id.",
      "Such as 123456:ABC…"
    ])
  })
})
