import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, statusAndError } from "../support/http.ts"
import { runningNodeLayer } from "../support/TestApp.ts"
import { setUpSecrets } from "./setUpSecrets.ts"

layer(runningNodeLayer(), { excludeTestServices: true })("a channel with secrets", (it) => {
  it.effect("sends them to their hosts, shows the references, and hides what comes back", () =>
    Effect.gen(function* () {
      const { member, putSecret, target, token } = yield* setUpSecrets
      const at = `${member.workspace}/notifications/channels`
      yield* putSecret("HOOK", { value: "hook-value-4711", allowed_hosts: [target.origin] })
      const config = {
        url: `${target.origin}/hooks/{{ secrets.HOOK }}`,
        authorization: "{{ secrets.HOOK }}"
      }
      const channel = yield* ask("POST", at, {
        token,
        body: { name: "Hook", kind: "webhook", config }
      })
      assert.deepStrictEqual(channel.body.config, config, channel.text)
      const sent = yield* ask("POST", `${at}/${channel.body.id}/test`, { token })
      assert.strictEqual(sent.body.delivered, true, sent.text)
      assert.strictEqual(target.arrived[0]?.path, "/hooks/hook-value-4711")
      assert.strictEqual(target.arrived[0]?.headers["authorization"], "hook-value-4711")
      assert.notInclude(sent.text, "4711")

      const removal = yield* ask("DELETE", `${member.workspace}/secrets/HOOK`, { token })
      assert.strictEqual(statusAndError(removal), "409 conflict")
      assert.include(removal.text, 'The notification channel \\"Hook\\" uses this secret.')

      const elsewhere = yield* putSecret("ELSEWHERE", {
        value: "elsewhere-4711",
        allowed_hosts: ["api.example.com"]
      })
      assert.strictEqual(elsewhere.status, 201)
      yield* ask("PATCH", `${at}/${channel.body.id}`, {
        token,
        body: { config: { ...config, authorization: "{{ secrets.ELSEWHERE }}" } }
      })
      const refused = yield* ask("POST", `${at}/${channel.body.id}/test`, { token })
      assert.strictEqual(refused.body.delivered, false, refused.text)
      assert.include(refused.text, "the secret ELSEWHERE may not be sent to")
      assert.strictEqual(target.arrived.length, 1)
    })
  )

  it.effect.each([
    ["webhook", { url: "https://{{ secrets.HOST }}/hook" }, "only after the host"],
    ["webhook", { url: "https://example.com/{{ run.id }}" }, "may contain {{ only in a URL"],
    [
      "telegram",
      { bot_token: "1:{{ secrets.BOT }}", chat_id: "1" },
      "may contain {{ only in a URL"
    ],
    [
      "telegram",
      { bot_token: "{{ secrets.BOT }}", chat_id: "{{ secrets.CHAT }}" },
      "may contain {{"
    ]
  ] as const)("%s %j is refused", ([kind, config, problem]) =>
    Effect.gen(function* () {
      const { member, token } = yield* setUpSecrets
      const answer = yield* ask("POST", `${member.workspace}/notifications/channels`, {
        token,
        body: { name: "Refused", kind, config }
      })
      assert.strictEqual(statusAndError(answer), "422 validation_failed")
      assert.include(answer.text, problem)
    })
  )

  it.effect("can have a reference instead of any kind of secret", () =>
    Effect.gen(function* () {
      const { member, token } = yield* setUpSecrets
      const config = { bot_token: "{{ secrets.BOT }}", chat_id: "-100" }
      const answer = yield* ask("POST", `${member.workspace}/notifications/channels`, {
        token,
        body: { name: "Bot", kind: "telegram", config }
      })
      assert.strictEqual(answer.status, 201, answer.text)
      assert.deepStrictEqual(answer.body.config, config)
    })
  )
})
