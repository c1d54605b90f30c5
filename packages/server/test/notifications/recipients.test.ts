import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { linkTokenFor } from "../accounts/email/linkTokenFor.ts"
import { ask, statusAndError, signUp } from "../support/http.ts"
import { notificationClientOf } from "./support/channels.ts"
import { appWithMail } from "./support/withMail.ts"

layer(appWithMail("on"))("The recipients of a problem", (it) => {
  it.effect("are the channels and steps that the rules name for its record and tags", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      yield* Effect.flatMap(linkTokenFor("email", member), (token) =>
        ask("POST", "/v1/auth/email/verify", { body: { token } })
      )
      const channels = notificationClientOf(member)
      const idOf = (name: string) =>
        Effect.map(channels.create({ name }), ({ body }) => String(body.id))
      const [all, tagged, own] = [yield* idOf("All"), yield* idOf("Tagged"), yield* idOf("Own")]
      yield* channels.update(tagged, { paused: true })
      const policy = yield* ask("PUT", `${member.workspace}/escalations/on-call`, {
        token: member.access_token,
        body: {
          name: "On call",
          steps: [
            { after_seconds: 60, channel_ids: [all] },
            { after_seconds: 300, member_ids: [member.user_id] }
          ]
        }
      })
      const id = randomUUID()
      const events = ["execution.failed"]
      const { body: settings } = yield* channels.settings
      const replaced = yield* channels.replace({
        version: settings.version,
        rules: [
          { events, channel_ids: [all] },
          { events, channel_ids: [all, tagged], tags: ["billing"] },
          { events, channel_ids: [own], escalation_id: policy.body.id, task_ids: [id] },
          { events: ["incident.opened"], channel_ids: [own] }
        ]
      })
      assert.strictEqual(replaced.status, 200, replaced.text)

      const namesFor = (query: string) =>
        Effect.map(channels.recipients(query), ({ body }) =>
          body.channels.map(({ name }: { readonly name: string }) => name)
        )
      assert.deepStrictEqual(yield* namesFor("event=execution.failed"), ["All"])
      assert.deepStrictEqual(yield* namesFor("event=incident.opened&tag=billing"), ["Own"])
      assert.deepStrictEqual(yield* namesFor("event=worker.offline"), [])
      const { body } = yield* channels.recipients(
        `event=execution.failed&subject_id=${id}&tag=nightly&tag=billing`
      )
      assert.containSubset(body, {
        channels: [
          { id: all, kind: "webhook", paused: false, confirmed: true, last_delivery: null },
          { id: tagged, paused: true },
          { id: own }
        ],
        escalations: [
          {
            key: "on-call",
            steps: [
              { after_seconds: 60, channels: [{ id: all }] },
              { after_seconds: 300, channels: [{ kind: "email", confirmed: true }] }
            ]
          }
        ]
      })
      assert.notInclude(JSON.stringify(body), "alerts.example.com")
      const refused = yield* channels.recipients("event=task.recovered")
      assert.strictEqual(statusAndError(refused), "422 validation_failed")
    })
  )
})
