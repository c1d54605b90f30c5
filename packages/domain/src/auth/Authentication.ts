import { HttpApiMiddleware } from "effect/http-api"
import { NotFound } from "../shared/Errors.ts"
import {
  Forbidden,
  InsufficientScope,
  InvalidApiKey,
  InvalidToken,
  JwtOnly,
  MissingCredentials,
  WorkspaceForbidden
} from "./AuthErrors.ts"
import type { Caller } from "./Caller.ts"

/** Lets a request through when its credential satisfies the endpoint's `Access`. */
export class Authentication extends HttpApiMiddleware.Service<
  Authentication,
  { provides: Caller }
>()("@scheduling/domain/auth/Authentication", {
  requiredForClient: true,
  error: [
    MissingCredentials,
    InvalidToken,
    InvalidApiKey,
    InsufficientScope,
    JwtOnly,
    WorkspaceForbidden,
    Forbidden,
    NotFound
  ]
}) {}

/** On the public endpoints under `/v1/auth`: an API key has no business there and is told so. */
export class ApiKeysRefused extends HttpApiMiddleware.Service<ApiKeysRefused>()(
  "@scheduling/domain/auth/ApiKeysRefused",
  { error: [InvalidApiKey, JwtOnly] }
) {}
