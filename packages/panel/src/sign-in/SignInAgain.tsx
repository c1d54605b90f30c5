import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { meOptions } from "../data/queries.ts"
import { Dialog } from "../ui/actions/Dialog.tsx"
import { textLinkClass } from "./AuthPage.tsx"
import { PasskeyButton, supportsPasskeys } from "./PasskeyButton.tsx"
import { ProxyButton } from "./ProxyButton.tsx"
import { SignInForm } from "./SignInForm.tsx"
import { signInOptions } from "../data/signInOptions.ts"

/**
 * The dialog shown when the session has expired. The page keeps its state, and requests wait until
 * the user has signed in again.
 */
const SignInAgain = ({ onLeave }: { readonly onLeave: () => void }) => {
  const { data: me } = useQuery({ ...meOptions, enabled: false })
  const { data: options } = useQuery(signInOptions)
  const [asksForCode, setAsksForCode] = useState(false)
  // Browsers close a dialog on the second Escape, even if the page prevents it. Another `key` then
  // renders a new, open dialog.
  const [times, setTimes] = useState(0)
  return (
    <Dialog
      key={times}
      isOpen
      label="Your session has ended"
      onClose={() => {
        setTimes((before) => before + 1)
        // The new form has no password to send with a code.
        setAsksForCode(false)
      }}
    >
      <div className="flex flex-col gap-4 p-5">
        <div>
          <h2 className="text-lg font-semibold">Your session has ended</h2>
          <p className="mt-1 text-soft">
            Sign in again to continue. Your input on this page is kept.
          </p>
        </div>
        {options?.password !== false && (
          <SignInForm
            key={me?.email}
            {...(me !== undefined && { email: me.email })}
            asksForCode={asksForCode}
            onCode={() => setAsksForCode(true)}
            onSignedIn={() => undefined}
          />
        )}
        {options?.proxy === true && <ProxyButton onSignedIn={() => undefined} />}
        {options?.passkey === true && supportsPasskeys && (
          <PasskeyButton onSignedIn={() => undefined} />
        )}
        {options?.provider && (
          <a href="/sign-in" target="_blank" className={`self-start text-sm ${textLinkClass}`}>
            Continue with {options.provider.name} in a new tab
          </a>
        )}
        <button type="button" className={`self-start text-sm ${textLinkClass}`} onClick={onLeave}>
          Leave this page
        </button>
      </div>
    </Dialog>
  )
}

export default SignInAgain
