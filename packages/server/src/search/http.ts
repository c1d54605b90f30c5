import { Api } from "@scheduling/domain/Api"
import type { Scope } from "@scheduling/domain/api-keys/Scope"
import { Principal } from "@scheduling/domain/auth/Principal"
import { ExecutionKind } from "@scheduling/domain/executions/Execution"
import { MonitorKind } from "@scheduling/domain/monitors/Monitor"
import {
  defaultSearchLimit,
  SearchResultKind,
  maxSearchWords
} from "@scheduling/domain/search/Search"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { uuidPattern } from "@scheduling/domain/shared/Ids"
import { Effect } from "effect"
import { implement, inWorkspace } from "../http/index.ts"
import { SearchRepo } from "./SearchRepo.ts"

export const SearchHandlers = implement(
  Api,
  "search",
  Effect.fnUntraced(function* (handlers) {
    const repo = yield* SearchRepo
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query: { limit = defaultSearchLimit, q } }) =>
        Effect.gen(function* () {
          const sought = { kinds: kindsFor(yield* Principal), limit }
          const text = q.toLowerCase()
          const words = text.split(/\s+/)
          if (words.length > maxSearchWords) {
            return yield* ValidationFailed.at(
              ["q"],
              "too_long",
              `must have at most ${maxSearchWords} words`
            )
          }
          const data = uuidPattern.test(text)
            ? yield* repo.findById(workspaceId, text, sought)
            : yield* repo.findByText(workspaceId, text, words, sought)
          return { data }
        })
      )
    })
  })
)

/** The kinds of records that an API key with each scope can find. */
const kindsOfScopes: ReadonlyArray<readonly [Scope, ReadonlyArray<SearchResultKind>]> = [
  ["tasks:read", [...ExecutionKind.literals, "queue"]],
  ["executions:read", ["execution"]],
  ["monitors:read", [...MonitorKind.literals, "incident", "maintenance_window", "status_page"]],
  ["notifications:read", ["channel", "escalation_policy"]]
]

const kindsFor = (principal: Principal["Service"]): ReadonlyArray<SearchResultKind> =>
  principal.kind === "jwt"
    ? SearchResultKind.literals
    : kindsOfScopes.flatMap(([scope, kinds]) => (principal.scopes.includes(scope) ? kinds : []))
