import { addFlaw, type Mutation, setHeader } from "./Mutation.ts"

export const mutateMethod: Mutation = (draft, dice) => {
  draft.method = dice.pick([
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "OPTIONS",
    "TRACE",
    "QUERY",
    "PROPFIND"
  ])
  addFlaw(draft, `method ${draft.method}`)
}

export const mutateContentType: Mutation = (draft, dice) => {
  const type = dice.pick([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/xml",
    "application/json; charset=utf-16",
    "application/json, text/plain",
    "application/jsonp",
    "json",
    "*/*",
    ";",
    "\xff"
  ])
  setHeader(draft, "content-type", type)
  addFlaw(draft, `content-type ${type}`)
}

export const mutateAuthorization: Mutation = (draft, dice, world) => {
  const own = draft.credential?.token ?? "x"
  const last = own.slice(-1) === "A" ? "B" : "A"
  const flipAt = dice.below(own.length)
  const values = dice.pick<ReadonlyArray<string>>([
    [],
    [""],
    ["Bearer"],
    ["Bearer "],
    [`Basic ${Buffer.from("a:b").toString("base64")}`],
    [own],
    [`Bearer  ${own}`],
    [`Bearer ${own} x`],
    [`Bearer\t${own}`],
    [`Bearer ${own}, Bearer ${own}`],
    [`Bearer ${own}`, `Bearer ${own}`],
    [`Bearer ${own.slice(0, flipAt)}${last}${own.slice(flipAt + 1)}`],
    [`Bearer ${own.slice(0, -1)}`],
    [`Bearer ${own}=`],
    [`Bearer "${own}"`],
    ["Bearer \xff\xfe"],
    [`Bearer pak_${"A".repeat(43)}`],
    ["Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0."],
    [`Bearer ${"a".repeat(8_000)}`],
    [`Bearer ${dice.pickLate(world.ended) ?? "x"}`],
    [`Bearer ${dice.pickLate(world.keys)?.token ?? "x"}`],
    [`Bearer ${dice.pickLate(world.sessions)?.token ?? "x"}`],
    [`Bearer ${dice.pickLate(world.sessions)?.refreshToken ?? "x"}`]
  ])
  setHeader(draft, "authorization", ...values)
  addFlaw(draft, "authorization")
}

/** Adds headers that keep a request valid and do not change its meaning. */
export const addHarmlessHeaders: Mutation = (draft, dice) => {
  const [name, values] = dice.pick<readonly [string, ReadonlyArray<string>]>([
    ["x-request-id", ["a b"]],
    ["x-request-id", ["\xe9\xff"]],
    ["x-request-id", [""]],
    ["x-request-id", ["a".repeat(129)]],
    ["x-request-id", ["pak_looks-like-a-key"]],
    ["x-request-id", ["pwk_looks-like-a-token"]],
    ["x-request-id", ["one", "two"]],
    ["x-request-id", ["<script>alert(1)</script>"]],
    ["accept", ["text/html"]],
    ["accept", ["*/*;q=0"]],
    ["accept", ["\xff"]],
    ["accept-encoding", ["gzip, br;q=0"]],
    ["accept-language", ["tlh"]],
    ["origin", ["null"]],
    ["origin", ["https://evil.example"]],
    ["sec-fetch-site", ["cross-site"]],
    ["cookie", ["a=b; authorization=x"]],
    ["expect", ["100-continue"]],
    ["connection", ["close"]],
    ["range", ["bytes=0-1"]],
    ["if-none-match", ["*"]],
    ["if-modified-since", ["yesterday"]],
    ["upgrade", ["h2c"]],
    ["x-http-method-override", ["DELETE"]],
    ["x-forwarded-for", ["unknown"]],
    ["x-forwarded-for", ["1.2.3.4, ::1,, [2001:db8::1]:80, \xff"]],
    ["x-forwarded-for", ["1.1.1.1", "2.2.2.2"]],
    ["x-forwarded-for", [""]],
    ["x-forwarded-host", ["evil.example", "\xff"]],
    ["x-forwarded-proto", ["gopher"]],
    ["forwarded", ['for="_hidden";proto=http']],
    ["user-agent", ["\xe9\x80\xff".repeat(200)]],
    ["user-agent", [""]],
    ["prefer", ["respond-async"]],
    ["x-many", Array.from({ length: 50 }, (_, at) => String(at))]
  ])
  setHeader(draft, name, ...values)
}

export const mutateIdempotencyKey: Mutation = (draft, dice) => {
  const values = dice.pick<ReadonlyArray<string>>([
    [""],
    ["a b"],
    ["\xe9"],
    ["k".repeat(256)],
    ["k".repeat(255)],
    ["one", "two"],
    ["same"],
    ["same"],
    ["__proto__"]
  ])
  setHeader(draft, "idempotency-key", ...values)
  addFlaw(draft, "idempotency-key")
}

/** Adds headers beyond the limits of HTTP parsing. */
export const addOversizedHeaders: Mutation = (draft, dice) => {
  if (dice.chance(0.5)) setHeader(draft, "x-long", "a".repeat(17_000))
  else draft.query.push(`long=${"a".repeat(17_000)}`)
  addFlaw(draft, "too long for HTTP", "size")
}
