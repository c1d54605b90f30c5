import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import {
  accessStatus,
  ask,
  createKey,
  newMember,
  logIn,
  type Member,
  statusAndError,
  password,
  signUp,
  runConcurrently
} from "../../support/http.ts"
import { leap } from "../../support/leap.ts"
import { twoTestNodesLayer } from "../../support/TestApp.ts"

const act =
  (actor: Member, at?: "url" | "otherUrl") => (method: string, path: string, body?: unknown) =>
    ask(method, path, {
      token: actor.access_token,
      ...(body === undefined ? {} : { body }),
      ...(at === undefined ? {} : { at })
    })

const setRole = (actor: Member, workspace: string, member: Member, role: string) =>
  act(actor)("PATCH", `${workspace}/members/${member.user_id}`, { role })

const remove = (actor: Member, workspace: string, member: Member) =>
  act(actor)("DELETE", `${workspace}/members/${member.user_id}`)

const rolesIn = Effect.fnUntraced(function* (owner: Member, workspace = owner.workspace) {
  const { body } = yield* act(owner)("GET", `${workspace}/members`)
  const members: ReadonlyArray<{ readonly id: string; readonly role: string }> = body.data
  return Object.fromEntries(members.map(({ id, role }) => [id, role]))
})

layer(twoTestNodesLayer())("members", (it) => {
  it.effect("are listed in pages with their roles", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const viewer = yield* newMember(owner, "viewer")
      const { body } = yield* act(viewer)("GET", `${owner.workspace}/members`)
      assert.deepStrictEqual(body, {
        data: [
          {
            id: viewer.user_id,
            email: viewer.email,
            name: null,
            role: "viewer",
            joined_at: "2026-06-01T12:00:00.000Z"
          },
          {
            id: owner.user_id,
            email: owner.email,
            name: null,
            role: "owner",
            joined_at: "2026-06-01T12:00:00.000Z"
          }
        ],
        next_cursor: null
      })
      const first = yield* act(owner)("GET", `${owner.workspace}/members?limit=1`)
      const second = yield* act(owner)(
        "GET",
        `${owner.workspace}/members?limit=1&cursor=${first.body.next_cursor}`
      )
      assert.strictEqual(second.body.data[0].id, owner.user_id)
    })
  )

  it.effect("have a new role at their next request on every node with the same token", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const member = yield* newMember(owner, "admin")
      const rename = (at: "url" | "otherUrl") =>
        Effect.map(act(member, at)("PATCH", owner.workspace, { name: "ours" }), statusAndError)
      assert.strictEqual(yield* rename("otherUrl"), "200")
      const changed = yield* setRole(owner, owner.workspace, member, "editor")
      assert.strictEqual(changed.body.role, "editor")
      assert.strictEqual(yield* rename("otherUrl"), "403 forbidden")
      assert.strictEqual(
        statusAndError(yield* setRole(owner, owner.workspace, member, "editor")),
        "200"
      )
      const answer = yield* act(member)("PATCH", owner.workspace, { name: "ours" })
      assert.deepInclude(answer.body.detail, {
        required_role: "admin",
        message: "Only an admin of this workspace may do this."
      })
    })
  )

  it.effect("cannot give themselves or others a higher role than their own", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const admin = yield* newMember(owner, "admin")
      const editor = yield* newMember(owner, "editor")
      const { workspace } = owner
      for (const answer of [
        yield* setRole(admin, workspace, admin, "owner"),
        yield* setRole(admin, workspace, editor, "owner"),
        yield* setRole(admin, workspace, owner, "viewer"),
        yield* remove(admin, workspace, owner),
        yield* act(admin)("POST", `${workspace}/invitations`, {
          email: "somebody@example.com",
          role: "owner"
        })
      ]) {
        assert.strictEqual(statusAndError(answer), "403 forbidden")
        assert.strictEqual(answer.body.detail.required_role, "owner")
      }
      assert.strictEqual(
        statusAndError(yield* setRole(editor, workspace, editor, "admin")),
        "403 forbidden"
      )
      assert.strictEqual(statusAndError(yield* setRole(admin, workspace, editor, "admin")), "200")
      assert.deepStrictEqual(yield* rolesIn(owner), {
        [owner.user_id]: "owner",
        [admin.user_id]: "admin",
        [editor.user_id]: "admin"
      })
    })
  )

  it.effect("keep an owner when members leave, are removed or change roles", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const { workspace } = owner
      for (const answer of [
        yield* setRole(owner, workspace, owner, "admin"),
        yield* remove(owner, workspace, owner),
        yield* act(owner)("POST", `${workspace}/leave`)
      ]) {
        assert.strictEqual(statusAndError(answer), "409 conflict")
      }
      const second = yield* newMember(owner, "owner")
      assert.strictEqual(statusAndError(yield* act(owner)("POST", `${workspace}/leave`)), "204")
      assert.deepStrictEqual(yield* rolesIn(second, workspace), { [second.user_id]: "owner" })
      assert.strictEqual(statusAndError(yield* act(owner)("GET", workspace)), "404 not_found")
    })
  )

  it.effect("keep an owner when two step down, leave or remove each other simultaneously", () =>
    Effect.gen(function* () {
      for (const round of ["roles", "leave", "remove", "account"] as const) {
        const owner = yield* signUp()
        const second = yield* newMember(owner, "owner")
        const { workspace } = owner
        const stepDown = {
          roles: (one: Member) => setRole(one, workspace, one, "viewer"),
          leave: (one: Member, at: "url" | "otherUrl") =>
            act(one, at)("POST", `${workspace}/leave`),
          remove: (one: Member) => remove(one, workspace, one === owner ? second : owner),
          account: (one: Member) =>
            one === owner
              ? act(one)("DELETE", "/v1/auth/me", { current_password: password })
              : act(one)("POST", `${workspace}/leave`)
        }[round]
        const answers = yield* runConcurrently([
          stepDown(owner, "url"),
          stepDown(second, "otherUrl")
        ])
        const statuses = answers.map(({ status }) => status).toSorted()
        assert.isBelow(statuses[0]!, 300, round)
        // The first request succeeds. A workspace is deleted together with its last owner's
        // account.
        if (round !== "account") assert.include([404, 409], statuses[1], round)
        const left = [owner, second].find(
          (_, index) => answers[index]!.status < 300 === (round === "remove")
        )
        if (left === undefined) assert.strictEqual(round, "account")
        else {
          const roles = Object.values(yield* rolesIn(left, workspace))
          assert.include(roles, "owner", round)
        }
      }
    })
  )

  it.effect("who are removed are rejected immediately, and their keys keep working", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const admin = yield* newMember(owner, "admin")
      const { workspace } = owner
      const { id, key } = yield* createKey({ workspace, access_token: admin.access_token })
      assert.strictEqual(statusAndError(yield* remove(owner, workspace, admin)), "204")
      assert.strictEqual(statusAndError(yield* remove(owner, workspace, admin)), "404 not_found")
      assert.strictEqual(statusAndError(yield* act(admin)("GET", workspace)), "404 not_found")
      assert.strictEqual(statusAndError(yield* ask("GET", workspace, { token: key })), "200")
      // The session belongs to the user, so it stays valid and can be refreshed.
      assert.strictEqual(yield* accessStatus(admin.access_token), "200")
      const refreshed = yield* ask("POST", "/v1/auth/refresh", {
        body: { refresh_token: admin.refresh_token }
      })
      const later = { ...admin, access_token: String(refreshed.body.access_token) }
      assert.strictEqual(statusAndError(yield* act(later)("GET", workspace)), "404 not_found")
      yield* act(admin)("DELETE", "/v1/auth/me", { current_password: password })
      const record = yield* act(owner)("GET", `${workspace}/api-keys/${id}`)
      assert.isNull(record.body.created_by)
      assert.strictEqual(statusAndError(yield* ask("GET", workspace, { token: key })), "200")
    })
  )

  it.effect("who are removed during a request have either made the change or not", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const admin = yield* newMember(owner, "admin")
      const viewer = yield* newMember(owner, "viewer")
      const { workspace } = owner
      const [promoted, removed] = yield* runConcurrently([
        setRole(admin, workspace, viewer, "editor"),
        remove(owner, workspace, admin)
      ])
      assert.strictEqual(statusAndError(removed!), "204")
      assert.include(["200", "404 not_found"], statusAndError(promoted!))
      const { [viewer.user_id]: role } = yield* rolesIn(owner)
      assert.strictEqual(role, promoted!.status === 200 ? "editor" : "viewer")
    })
  )

  it.effect("who are removed during a refresh get tokens without the workspace", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const admin = yield* newMember(owner, "admin")
      const [refreshed, removed] = yield* runConcurrently([
        ask("POST", "/v1/auth/refresh", { body: { refresh_token: admin.refresh_token } }),
        remove(owner, owner.workspace, admin)
      ])
      assert.deepStrictEqual([refreshed!, removed!].map(statusAndError), ["200", "204"])
      const later = { ...admin, access_token: String(refreshed!.body.access_token) }
      for (const token of [admin, later]) {
        assert.strictEqual(
          statusAndError(yield* act(token)("GET", owner.workspace)),
          "404 not_found"
        )
        assert.strictEqual(statusAndError(yield* act(token)("GET", admin.workspace)), "200")
      }
    })
  )

  it.effect(
    "whose role is lowered during a request have either made the change before or not",
    () =>
      Effect.gen(function* () {
        const owner = yield* signUp()
        const admin = yield* newMember(owner, "admin")
        const rename = (name: string) => act(admin, "otherUrl")("PATCH", owner.workspace, { name })
        const [renamed, lowered] = yield* runConcurrently([
          rename("renamed"),
          setRole(owner, owner.workspace, admin, "viewer")
        ])
        assert.strictEqual(statusAndError(lowered!), "200")
        assert.include(["200", "403 forbidden"], statusAndError(renamed!))
        const { body } = yield* act(admin)("GET", owner.workspace)
        assert.strictEqual(body.name === "renamed", renamed!.status === 200)
        assert.strictEqual(statusAndError(yield* rename("again")), "403 forbidden")
      })
  )

  it.effect("are in the audit log with their old and new roles", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const member = yield* newMember(owner, "viewer")
      yield* setRole(owner, owner.workspace, member, "editor")
      yield* act(member)("POST", `${owner.workspace}/leave`)
      const { body } = yield* act(owner)("GET", `${owner.workspace}/audit`)
      const events: ReadonlyArray<{ action: string; actor: { id: string }; details: object }> =
        body.data
      assert.deepStrictEqual(
        events
          .map(({ action, actor, details }) => ({ action, actor_id: actor.id, details }))
          .slice(0, 3),
        [
          { action: "member.left", actor_id: member.user_id, details: { role: "editor" } },
          {
            action: "member.role_changed",
            actor_id: owner.user_id,
            details: { role: "editor", was: "viewer" }
          },
          {
            action: "member.added",
            actor_id: member.user_id,
            details: {
              role: "viewer",
              invited_by: owner.user_id,
              invitation_id: Object(events[2]?.["details"]).invitation_id
            }
          }
        ]
      )
      assert.isFalse(JSON.stringify(events).includes(member.email))
    })
  )
})

const invite = (actor: Member, email: string, role = "viewer", workspace = actor.workspace) =>
  act(actor)("POST", `${workspace}/invitations`, { email, role })

const accept = (actor: Member, token: string, at?: "url" | "otherUrl") =>
  act(actor, at)("POST", "/v1/invitations/accept", { token })

layer(twoTestNodesLayer())("an invitation", (it) => {
  it.effect("is accepted once by two simultaneous requests", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const guest = yield* signUp()
      const invited = yield* invite(owner, guest.email.toUpperCase(), "editor")
      assert.strictEqual(invited.status, 201)
      assert.strictEqual(invited.headers.get("cache-control"), "no-store")
      assert.deepInclude(invited.body, { email: guest.email, role: "editor" })
      const answers = yield* runConcurrently([
        accept(guest, invited.body.token),
        accept(guest, invited.body.token, "otherUrl")
      ])
      assert.deepStrictEqual(answers.map(statusAndError).toSorted(), ["200", "404 not_found"])
      assert.strictEqual((yield* rolesIn(owner))[guest.user_id], "editor")
      const listed = yield* act(owner)("GET", `${owner.workspace}/invitations`)
      assert.deepStrictEqual(listed.body.data, [])
    })
  )

  it.effect("shows its workspace, role and author to the holder of the token", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const email = `Guest-${owner.user_id}@example.com`
      const { token } = (yield* invite(owner, email, "editor")).body
      const preview = (of: string) =>
        ask("POST", "/v1/invitations/preview", { body: { token: of } })
      const shown = yield* preview(token)
      assert.strictEqual(shown.status, 200)
      const workspace = (yield* act(owner)("GET", owner.workspace)).body
      assert.deepStrictEqual(Object.keys(shown.body).toSorted(), [
        "email",
        "expires_at",
        "invited_by",
        "role",
        "workspace_name"
      ])
      assert.deepInclude(shown.body, {
        workspace_name: workspace.name,
        role: "editor",
        email: email.toLowerCase(),
        invited_by: owner.email
      })
      assert.strictEqual(statusAndError(yield* preview(token.slice(1))), "404 not_found")
      yield* act(owner)("PATCH", "/v1/auth/me", { name: "Ada Lovelace" })
      assert.strictEqual((yield* preview(token)).body.invited_by, "Ada Lovelace")
      yield* leap("7 days")
      assert.strictEqual(statusAndError(yield* preview(token)), "404 not_found")
    })
  )

  it.effect("works for the account with its email, for 7 days", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const [guest, stranger] = [yield* signUp(), yield* signUp()]
      const invited = yield* invite(owner, guest.email)
      const { token } = invited.body
      assert.strictEqual(statusAndError(yield* accept(stranger, token)), "404 not_found")
      assert.strictEqual(statusAndError(yield* accept(guest, token.slice(1))), "404 not_found")
      yield* leap("7 days")
      const { body } = yield* logIn(guest.email)
      const later = { ...guest, access_token: String(body.access_token) }
      const answer = yield* accept(later, token)
      assert.strictEqual(statusAndError(answer), "404 not_found")
      assert.strictEqual(answer.body.detail.resource, "invitation")
    })
  )

  it.effect("ends when it is replaced or withdrawn, or its author loses the role", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const admin = yield* newMember(owner, "admin")
      const guest = yield* signUp()
      const first = yield* invite(owner, guest.email)
      const second = yield* invite(owner, guest.email, "editor")
      assert.strictEqual(statusAndError(yield* accept(guest, first.body.token)), "404 not_found")
      const path = `${owner.workspace}/invitations/${second.body.id}`
      assert.strictEqual(statusAndError(yield* act(owner)("DELETE", path)), "204")
      assert.strictEqual(statusAndError(yield* accept(guest, second.body.token)), "404 not_found")
      const byAdmin = () => invite(admin, guest.email, "admin", owner.workspace)
      const third = yield* byAdmin()
      yield* setRole(owner, owner.workspace, admin, "viewer")
      assert.strictEqual(statusAndError(yield* accept(guest, third.body.token)), "404 not_found")
      yield* setRole(owner, owner.workspace, admin, "admin")
      const fourth = yield* byAdmin()
      yield* remove(owner, owner.workspace, admin)
      assert.strictEqual(statusAndError(yield* accept(guest, fourth.body.token)), "404 not_found")
    })
  )

  it.effect("is rejected for a member, and beyond a hundred open invitations", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const member = yield* newMember(owner, "viewer")
      assert.strictEqual(statusAndError(yield* invite(owner, member.email)), "409 conflict")
      const answers = yield* Effect.forEach(
        Array.from({ length: 101 }, (_, index) => `guest${index}@example.com`),
        (email) => invite(owner, email),
        { concurrency: 10 }
      )
      const refused = answers.filter(({ status }) => status !== 201)
      assert.deepStrictEqual(refused.map(statusAndError), ["402 quota_exceeded"])
    })
  )
})
