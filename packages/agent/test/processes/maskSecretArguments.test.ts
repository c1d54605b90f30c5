import { assert, describe, it } from "@effect/vitest"
import { maskSecretArguments } from "../../src/processes/maskSecretArguments.ts"

const random = "q8Zr41vKx0PbT7mWc2Ye"

describe("maskSecretArguments", () => {
  it.each([
    ["mysqld --password=hunter2 -v", "mysqld --password=*** -v"],
    ["app --db-password hunter2 --port 80", "app --db-password *** --port 80"],
    ["app -token hunter2", "app -token ***"],
    ["env DB_PASSWORD=hunter2 app", "env DB_PASSWORD=*** app"],
    ["java -Dspring.datasource.password=hunter2", "java -Dspring.datasource.password=***"],
    ["psql postgres://ada:hunter2@db/app", "psql postgres://***@db/app"],
    [
      "curl -H Authorization: Bearer hunter2 http://x",
      "curl -H Authorization: Bearer *** http://x"
    ],
    ["curl -H X-Api-Key: hunter2 http://x", "curl -H X-Api-Key: *** http://x"],
    ["curl http://x/?a=1&api_key=hunter2", "curl http://x/?a=1&api_key=***"],
    [`app {"secret":"hunter2"}`, `app {"secret":***`],
    [`app ${random}`, "app ***"],
    [`app --id=${random}`, "app --id=***"],
    [`app pwk_${"x".repeat(43)}`, "app ***"],
    [`app sk-live-${random}`, "app ***"]
  ])("blanks secrets: %s", (raw, blanked) => {
    assert.strictEqual(maskSecretArguments(raw), blanked)
  })

  it.each([
    "node worker.js --queue mail",
    "/opt/scheduling-agent-0.1.0/bin/node token-worker.js --queue mail",
    "java -Xmx512m -jar /srv/app-1.2.3.jar --spring.profiles.active=production",
    "python3 -m http.server 8000 --bind 127.0.0.1",
    "watched-019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41 600"
  ])("keeps other arguments: %s", (raw) => {
    assert.strictEqual(maskSecretArguments(raw), raw)
  })

  it("is fast for hostile command lines", () => {
    const hostile = [
      "a".repeat(4_096),
      "token".repeat(800),
      "-token-".repeat(600),
      "a:".repeat(2_048)
    ]
    const startedMs = performance.now()
    for (const text of hostile) maskSecretArguments(text)
    assert.isBelow(performance.now() - startedMs, 1_000)
  })
})
