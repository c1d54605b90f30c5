import { assert, layer } from "@effect/vitest"
import type { AuditEvent } from "@scheduling/domain/workspaces/AuditEvent"
import { Effect } from "effect"
import {
  ask,
  createKey,
  createServiceAccount,
  newMember,
  type Member,
  statusAndError,
  signUp,
  obtainToken
} from "../../support/http.ts"
import { twoTestNodesLayer } from "../../support/TestApp.ts"

const post = (
  { access_token, workspace }: Pick<Member, "access_token" | "workspace">,
  action: "stop" | "resume",
  at: "url" | "otherUrl" = "url"
) => ask("POST", `${workspace}/${action}`, { token: access_token, at })

const stoppedAt = ({ access_token, workspace }: Pick<Member, "access_token" | "workspace">) =>
  Effect.map(
    ask("GET", workspace, { token: access_token, at: "otherUrl" }),
    ({ body }) => body.stopped_at
  )

layer(twoTestNodesLayer())("the stop of a workspace", (it) => {
  it.effect("is seen on every node, recorded in the audit log, and ended once", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const token = member.access_token
      assert.isNull(yield* stoppedAt(member))
      const stopped = yield* post(member, "stop")
      assert.strictEqual(stopped.status, 200)
      assert.isString(stopped.body.stopped_at)
      assert.strictEqual(yield* stoppedAt(member), stopped.body.stopped_at)
      assert.deepStrictEqual((yield* post(member, "stop", "otherUrl")).body, stopped.body)
      const { body: renamed } = yield* ask("PATCH", member.workspace, {
        token,
        body: { name: "Acme" }
      })
      assert.strictEqual(renamed.stopped_at, stopped.body.stopped_at)
      const { body: listed } = yield* ask("GET", "/v1/workspaces", { token })
      assert.strictEqual(listed.data[0].stopped_at, stopped.body.stopped_at)

      const resumed = yield* post(member, "resume", "otherUrl")
      assert.deepStrictEqual(resumed.body, { ...renamed, stopped_at: null })
      assert.deepStrictEqual((yield* post(member, "resume")).body, resumed.body)
      assert.isNull(yield* stoppedAt(member))
      const { body: audit } = yield* ask("GET", `${member.workspace}/audit`, { token })
      const events = audit.data
        .filter(({ action }: AuditEvent) => /stopped|resumed/.test(action))
        .map(({ action, actor, subject_id }: AuditEvent) => [action, actor?.id, subject_id])
      assert.sameDeepMembers(events, [
        ["workspace.resumed", member.user_id, member.workspace_id],
        ["workspace.stopped", member.user_id, member.workspace_id]
      ])
    })
  )

  it.effect("is for admins and owners, including service accounts, and not for API keys", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const editor = { ...(yield* newMember(owner, "editor")), workspace: owner.workspace }
      const admin = { ...(yield* newMember(owner, "admin")), workspace: owner.workspace }
      const access_token = yield* obtainToken(yield* createServiceAccount(owner))
      const program = { access_token, workspace: owner.workspace }
      const { key } = yield* createKey(owner, { scopes: ["tasks:write", "workspace:read"] })
      for (const action of ["stop", "resume"] as const) {
        assert.strictEqual(statusAndError(yield* post(editor, action)), "403 forbidden")
        const byKey = { access_token: key, workspace: owner.workspace }
        assert.strictEqual((yield* post(byKey, action)).status, 403)
        const stranger = { ...(yield* signUp()), workspace: owner.workspace }
        assert.include([403, 404], (yield* post(stranger, action)).status)
      }
      assert.isNull(yield* stoppedAt(owner))
      assert.strictEqual((yield* post(admin, "stop")).status, 200)
      assert.isString(yield* stoppedAt(owner))
      assert.strictEqual((yield* post(program, "resume")).status, 200)
      assert.isNull(yield* stoppedAt(owner))
    })
  )
})
