import Testing

@testable import RedirectListener

struct RedirectPageTests {
    @Test func `text is text, wherever it stands`() {
        let evil = "\"><script>alert('x')</script>&amp;"
        let page = RedirectPage(.failure, title: evil, text: evil, advice: evil, command: evil)
        let html = page.html(nonce: "0").text
        #expect(!html.contains("<script") && !html.contains("'x'"))
        #expect(html.ranges(of: "&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;").count == 5)
    }

    @Test(arguments: [RedirectPage.Mood.success, .notice, .failure])
    func `a page is one card, and loads nothing`(mood: RedirectPage.Mood) {
        let html = RedirectPage(mood, title: "T", text: "t").html(nonce: "0").text
        #expect(html.hasPrefix("<!doctype html>"))
        #expect(html.contains("width=device-width") && html.contains("prefers-color-scheme: dark"))
        #expect(!html.contains("src=") && !html.contains("url(") && !html.contains("@import"))
    }
}
