/**
 * Two of the service's endpoints, written by hand as a good engineer would write them: Fastify,
 * `pg`, `jose`, prepared statements, response schemas. They use the service's own tables, keys and
 * tokens.
 */
import fastify, { type FastifyRequest } from "fastify"
import { jwtVerify } from "jose"
import { createHmac, createSecretKey, hkdfSync } from "node:crypto"
import { Pool } from "pg"
import { cronListSchema, listCronTasks, optionalTextSchema, textSchema } from "./cronList.ts"

const pool = new Pool({ connectionString: process.env["DATABASE_URL"], max: 10 })

const derived = (purpose: string) =>
  new Uint8Array(
    hkdfSync("sha256", process.env["APP_SECRET"] ?? "", "", `scheduling-service/${purpose}`, 32)
  )
const pepper = createSecretKey(derived("api-key"))
const jwtKey = await crypto.subtle.importKey(
  "raw",
  derived("jwt"),
  { name: "HMAC", hash: "SHA-256" },
  false,
  ["verify"]
)

class Refused extends Error {
  readonly statusCode: number
  readonly code: string

  constructor(statusCode: number, code: string) {
    super(code)
    this.statusCode = statusCode
    this.code = code
  }
}

const tokenOf = (request: FastifyRequest): string => {
  const { authorization } = request.headers
  if (authorization === undefined) throw new Refused(401, "missing_credentials")
  return authorization.slice("Bearer ".length)
}

const demandScope = async (token: string, workspaceId: string, scope: string) => {
  if (!/^pak_[A-Za-z0-9_-]{43}$/.test(token)) throw new Refused(401, "invalid_api_key")
  const { rows } = await pool.query<{
    readonly workspace_id: string
    readonly scopes: ReadonlyArray<string>
    readonly expires_at: Date | null
    readonly revoked_at: Date | null
  }>({
    name: "find_key",
    text: `
      SELECT id, workspace_id, scopes, expires_at, revoked_at
      FROM api_keys
      WHERE key_hash = $1`,
    values: [createHmac("sha256", pepper).update(token).digest("base64url")]
  })
  const [key] = rows
  if (key === undefined || key.revoked_at !== null) throw new Refused(401, "invalid_api_key")
  if (key.expires_at !== null && key.expires_at <= new Date()) {
    throw new Refused(401, "invalid_api_key")
  }
  if (key.workspace_id !== workspaceId) throw new Refused(403, "workspace_forbidden")
  if (!key.scopes.includes(scope)) throw new Refused(403, "insufficient_scope")
}

const demandMember = async (token: string, workspaceId: string) => {
  const { payload } = await jwtVerify(token, jwtKey, {
    algorithms: ["HS256"],
    issuer: "scheduling-service",
    audience: "scheduling-service"
  }).catch(() => {
    throw new Refused(401, "invalid_token")
  })
  const { rows } = await pool.query<{ readonly role: string | null }>({
    name: "find_session",
    text: `
      SELECT m.role
      FROM sessions AS s
      LEFT JOIN memberships AS m ON m.user_id = s.user_id AND m.workspace_id = $2
      WHERE s.id = $1 AND s.expires_at > now()`,
    values: [payload["sid"], workspaceId]
  })
  const [session] = rows
  if (session === undefined) throw new Refused(401, "invalid_token")
  if (session.role === null) throw new Refused(404, "not_found")
}

interface InWorkspace {
  readonly Params: { readonly workspace_id: string }
}

const app = fastify({ logger: false })

app.get("/ready", () => ({ status: "ok" }))

app.get<InWorkspace>(
  "/v1/workspaces/:workspace_id/cron",
  { schema: { response: { 200: cronListSchema } } },
  async (request) => {
    const workspaceId = request.params.workspace_id
    await demandScope(tokenOf(request), workspaceId, "tasks:read")
    return listCronTasks(pool, workspaceId)
  }
)

const keyListSchema = {
  type: "object",
  properties: {
    data: {
      type: "array",
      items: {
        type: "object",
        properties: {
          id: textSchema,
          name: textSchema,
          key_prefix: textSchema,
          scopes: { type: "array", items: textSchema },
          expires_at: optionalTextSchema,
          last_used_at: optionalTextSchema,
          is_active: { type: "boolean" },
          created_at: textSchema,
          revoked_at: optionalTextSchema,
          created_by: optionalTextSchema
        }
      }
    },
    next_cursor: optionalTextSchema
  }
}

app.get<InWorkspace>(
  "/v1/workspaces/:workspace_id/api-keys",
  { schema: { response: { 200: keyListSchema } } },
  async (request) => {
    const workspaceId = request.params.workspace_id
    await demandMember(tokenOf(request), workspaceId)
    const limit = 50
    const { rows } = await pool.query<{ readonly id: string }>({
      name: "list_keys",
      text: `
        SELECT
          id, name, key_prefix, scopes, expires_at, last_used_at, created_at, revoked_at, created_by,
          revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) AS is_active
        FROM api_keys
        WHERE workspace_id = $1
        ORDER BY id DESC
        LIMIT $2`,
      values: [workspaceId, limit + 1]
    })
    const data = rows.slice(0, limit)
    return { data, next_cursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null }
  }
)

await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"]) })
process.on("SIGTERM", () => process.exit(0))
