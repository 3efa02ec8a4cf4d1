// The script of index.html, and a service worker. Some servers, such as Apple's, answer with a form. The service worker
// receives the form in the browser, so the host, which serves only static files, never sees its content. The worker
// writes the answer into the page. The page passes it to `authctl callback` on this machine, or shows it for pasting.
// The answer is in no address that a browser would send to the host, or remember.
"use strict";

if (typeof document === "undefined") {
    self.addEventListener("install", () => self.skipWaiting());
    self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
    self.addEventListener("fetch", (event) => {
        const { request } = event;
        if (request.method === "POST" && request.mode === "navigate") event.respondWith(readBack(request));
    });
} else {
    window.addEventListener("load", show);
}

async function readBack(request) {
    // The text is percent-encoded, so "&" is its only character with a meaning in HTML.
    const answer = new URLSearchParams(await request.formData()).toString().replaceAll("&", "&amp;");
    const page = await (await fetch(self.registration.scope)).text();
    const headers = { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" };
    return new Response(page.replace("<main>", () => `<main data-answer="${answer}">`), { headers });
}

// The desktop passes addresses of this scheme to `authctl callback`, after authctl has registered it. A person has to
// click, because a browser that knows no program for the scheme may replace the page by an error.
const HAND_ON = "io.authrefresh:";

async function show() {
    const here = location.origin + location.pathname;
    const brought = document.querySelector("main").dataset.answer ?? location.search.slice(1);
    // Some servers put the whole answer after the "#", which no browser sends to a host.
    const address = here + (brought && `?${brought}`) + location.hash;
    if (address !== here) {
        // A bookmark of the page needs no answer.
        history.replaceState(null, "", here);
        tell("Back from the sign-in", "Hand this address to authctl, if it waits on this machine. Else copy it, and paste it where authctl asks for it:");
        document.getElementById("address").textContent = address;
        document.getElementById("open").href = HAND_ON + address;
        document.getElementById("answer").hidden = false;
        document.getElementById("copy").addEventListener("click", () => navigator.clipboard.writeText(address));
        return;
    }
    try {
        await navigator.serviceWorker.register("relay.js");
        await navigator.serviceWorker.ready;
        tell("Ready", "This browser can be sent back here from a sign-in now. Begin it: authctl login ACCOUNT --flow paste");
    } catch (error) {
        tell("This browser cannot be used", `It keeps no service worker for this page (${error.message}), and could take no form.`);
    }
}

function tell(title, text) {
    document.title = title;
    document.getElementById("title").textContent = title;
    document.getElementById("text").textContent = text;
}
