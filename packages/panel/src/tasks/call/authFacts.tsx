import type { CallAuth } from "@scheduling/sdk"
import type { FactsByName } from "../../ui/layout/Page.tsx"
import { referencedSecretName } from "./authValues.ts"

export const authFacts = ({ auth }: { readonly auth: CallAuth | null }): FactsByName => {
  switch (auth?.kind) {
    case undefined:
      return {}
    case "basic":
      return {
        Authentication: (
          <>
            Basic, as {auth.username}, with the secret <SecretName of={auth.password} />
          </>
        )
      }
    case "bearer":
      return {
        Authentication: (
          <>
            Bearer, with the secret <SecretName of={auth.token} />
          </>
        )
      }
    case "oauth2_client_credentials":
      return {
        Authentication: (
          <>
            OAuth2, as {auth.client_id}, with the secret <SecretName of={auth.client_secret} />
          </>
        ),
        "Token URL": <span className="font-mono text-sm">{auth.token_url}</span>,
        Scope: auth.scope,
        Audience: auth.audience
      }
  }
}

const SecretName = ({ of: reference }: { readonly of: string }) => (
  <code className="font-mono text-sm">{referencedSecretName(reference)}</code>
)
