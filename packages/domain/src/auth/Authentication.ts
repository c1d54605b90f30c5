import { HttpApiMiddleware } from "effect/http-api"
import { NotFound, RateLimited } from "../shared/Errors.ts"
import {
  Forbidden,
  InsufficientScope,
  InvalidApiKey,
  InvalidToken,
  JwtOnly,
  MissingCredentials,
  PersonOnly,
  WorkspaceForbidden
} from "./AuthErrors.ts"
import type { CurrentWorkspace } from "./CurrentWorkspace.ts"
import type { Principal } from "./Principal.ts"

/** Accepts a request if its credential satisfies the endpoint's `Access`. */
export class Authentication extends HttpApiMiddleware.Service<
  Authentication,
  { provides: Principal | CurrentWorkspace }
>()("@scheduling/domain/auth/Authentication", {
  requiredForClient: true,
  error: [
    MissingCredentials,
    InvalidToken,
    InvalidApiKey,
    RateLimited,
    InsufficientScope,
    JwtOnly,
    PersonOnly,
    WorkspaceForbidden,
    Forbidden,
    NotFound
  ]
}) {}

/** Rejects API keys on the public endpoints under `/v1/auth` with a specific error. */
export class ApiKeysRefused extends HttpApiMiddleware.Service<ApiKeysRefused>()(
  "@scheduling/domain/auth/ApiKeysRefused",
  { error: [InvalidApiKey, JwtOnly] }
) {}
