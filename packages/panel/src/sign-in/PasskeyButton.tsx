import {
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication
} from "@simplewebauthn/browser"
import { useState } from "react"
import { session } from "../data/session.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Problem } from "../ui/messages/Problem.tsx"

/** True if the browser supports passkeys, which it does only on HTTPS and on localhost. */
export const supportsPasskeys = "PublicKeyCredential" in window

/** Signs in with a passkey from this device, a phone or a security key. */
export const PasskeyButton = ({ onSignedIn }: { readonly onSignedIn: () => unknown }) => {
  const [isBusy, setIsBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const signIn = async () => {
    setIsBusy(true)
    setError(null)
    try {
      const { challenge, options } = await session.askPanel<{
        readonly challenge: string
        readonly options: PublicKeyCredentialRequestOptionsJSON
      }>("/panel/passkey/options")
      const response = await startAuthentication({ optionsJSON: options })
      await session.signInWithPasskey({ challenge, response })
      await onSignedIn()
    } catch (failure) {
      if (!isCancelled(failure)) setError(failure)
    }
    setIsBusy(false)
  }
  return (
    <div className="flex flex-col gap-3">
      <Problem error={error} />
      <Button busy={isBusy} onClick={() => void signIn()}>
        Use a passkey
      </Button>
    </div>
  )
}

/** True if the user closed the browser's dialog. */
const isCancelled = (error: unknown): boolean =>
  error instanceof Error && ["NotAllowedError", "AbortError"].includes(error.name)
